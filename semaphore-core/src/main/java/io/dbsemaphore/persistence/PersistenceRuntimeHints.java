package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.PermitState;
import jakarta.persistence.EntityManager;
import java.sql.Connection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.core.DecoratingProxy;
import org.springframework.data.repository.Repository;
import org.springframework.orm.jpa.EntityManagerProxy;
import org.springframework.transaction.interceptor.TransactionalProxy;

/**
 * Hints for native images: reflection on the entities and the results of queries, the proxies of repositories, and the
 * changelog as a resource. Spring's AOT processing does not find these, because they are not beans.
 */
final class PersistenceRuntimeHints implements RuntimeHintsRegistrar {

    private static final List<Class<?>> REPOSITORIES =
            List.of(SemaphoreRepository.class, MaintenanceRepository.class, SemaphoreReports.class);

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        SemaphorePersistence.ENTITIES.forEach(entity -> hints.reflection()
                .registerType(
                        entity,
                        MemberCategory.INVOKE_DECLARED_CONSTRUCTORS,
                        MemberCategory.INVOKE_DECLARED_METHODS,
                        MemberCategory.ACCESS_DECLARED_FIELDS));
        hints.reflection().registerType(PermitState.class, MemberCategory.INVOKE_DECLARED_METHODS);
        REPOSITORIES.forEach(repository -> registerRepository(hints, repository));
        hints.proxies().registerJdkProxy(EntityManager.class, EntityManagerProxy.class);
        hints.proxies().registerJdkProxy(Connection.class); // for Hibernate
        hints.resources().registerPattern("db/dbsemaphore/**");
    }

    private static void registerRepository(RuntimeHints hints, Class<?> repository) {
        hints.reflection().registerType(repository, MemberCategory.INVOKE_DECLARED_METHODS);
        hints.proxies()
                .registerJdkProxy(
                        repository, Repository.class, TransactionalProxy.class, Advised.class, DecoratingProxy.class);
        for (Class<?> row : repository.getDeclaredClasses()) {
            hints.reflection()
                    .registerType(
                            row, MemberCategory.INVOKE_DECLARED_CONSTRUCTORS, MemberCategory.INVOKE_DECLARED_METHODS);
        }
    }
}
