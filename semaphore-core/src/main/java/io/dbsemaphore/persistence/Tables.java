package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.ReleaseChannel;
import io.dbsemaphore.persistence.PermitRequestRepository.Found;
import io.dbsemaphore.persistence.unit.Sql;
import io.dbsemaphore.persistence.unit.TimeOrderedIds;
import jakarta.persistence.EntityManager;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.data.jpa.repository.query.QueryEnhancerFactories;
import org.springframework.data.jpa.repository.support.JpaRepositoryFactory;
import org.springframework.util.function.SingletonSupplier;

/**
 * The tables of the library. Each has a class for the SQL of batches, and a Spring Data repository for all other statements. A
 * repository is created on first use, since creation parses all of its queries and would slow down application startup.
 */
record Tables(
        Sql sql,
        SemaphoreTable semaphores,
        PermitRequestTable requests,
        PermitTable permits,
        WaiterTable waiters,
        InstanceTable instances,
        CapacityHistory history,
        Supplier<SemaphoreReports> reports,
        TimeOrderedIds ids) {

    static final List<Class<?>> ENTITIES = List.of(
            Semaphore.class,
            PermitRequest.class,
            Permit.class,
            CapacityAudit.class,
            SemaphoreInstance.class,
            SemaphoreWaiter.class);

    static Tables of(
            EntityManager entityManager,
            Database database,
            String tablePrefix,
            Duration suspectGrace,
            @Nullable ReleaseChannel channel) {
        Repositories repositories = new Repositories(entityManager);
        Sql sql = new Sql(entityManager, database, tablePrefix);
        TimeOrderedIds ids = new TimeOrderedIds();
        SemaphoreTable semaphores = new SemaphoreTable(sql, repositories.lazily(SemaphoreRepository.class));
        return new Tables(
                sql,
                semaphores,
                new PermitRequestTable(
                        sql,
                        database.locksUncommittedRows(),
                        database.returnsUpdatedRows(),
                        repositories.lazily(PermitRequestRepository.class)),
                new PermitTable(sql, channel, repositories.lazily(PermitRepository.class)),
                new WaiterTable(sql, semaphores, repositories.lazily(WaiterTable.Rows.class)),
                new InstanceTable(repositories.lazily(InstanceTable.Rows.class), suspectGrace),
                new CapacityHistory(sql, ids, repositories.lazily(CapacityHistory.Rows.class)),
                repositories.lazily(SemaphoreReports.class),
                ids);
    }

    /** Creates the repositories that acquires use. */
    void warmUp() {
        semaphores.rows();
        requests.rows();
        permits.rows();
        waiters.rows();
    }

    /** The held grant with this external id. */
    Optional<StoredGrant> findGrant(String externalId) {
        return requests.rows().findByExternalIds(List.of(externalId)).stream()
                .filter(found -> found.request().isAcquired())
                .findFirst()
                .map(this::grantOf);
    }

    StoredGrant grantOf(long requestId) {
        return grantOf(requests.rows().findByIds(List.of(requestId)).get(0));
    }

    StoredGrant grantOf(Found found) {
        List<StoredPermit> held = permits
                .rows()
                .findByRequests(List.of(found.request().id()))
                .stream()
                .map(permit -> new StoredPermit(permit.id(), permit.name(), permit.count(), permit.token()))
                .toList();
        return found.request().toGrant(held, found.now());
    }

    private static final class Repositories {

        private final JpaRepositoryFactory factory;

        Repositories(EntityManager entityManager) {
            factory = new JpaRepositoryFactory(entityManager);
            // the thread's context class loader may not see the package-private interfaces
            factory.setBeanClassLoader(Tables.class.getClassLoader());
            // no query of the library is sorted or paged by Spring Data, whose parser of HQL would cost time
            factory.setQueryEnhancerSelector(query -> QueryEnhancerFactories.fallback());
        }

        <T> Supplier<T> lazily(Class<T> type) {
            return SingletonSupplier.of(() -> create(type))::obtain;
        }

        /** Synchronized, because the factory is not thread-safe. */
        private synchronized <T> T create(Class<T> type) {
            return factory.getRepository(type);
        }
    }
}
