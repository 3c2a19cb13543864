package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.proxies;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.resource;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.dbsemaphore.engine.SemaphoreTablesMissingException;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.jdbc.SemaphoreDataSource;
import io.dbsemaphore.persistence.unit.DatabaseClockFunctions;
import io.dbsemaphore.persistence.unit.LazyRepositories;
import io.dbsemaphore.persistence.unit.RowInsert;
import io.dbsemaphore.persistence.unit.Sql;
import io.dbsemaphore.persistence.waiting.InstanceQueues;
import io.dbsemaphore.persistence.waiting.WaiterFragments;
import io.dbsemaphore.testing.DatabaseKind;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;
import org.hibernate.cfg.JdbcSettings;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.beans.factory.aot.AotServices;
import org.springframework.data.jpa.repository.support.JpaRepositoryFactory;
import org.springframework.data.repository.Repository;
import org.springframework.data.repository.core.support.RepositoryComposition.RepositoryFragments;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.orm.jpa.SharedEntityManagerCreator;

/** Everything that is accessed by reflection at run time is registered for native images. */
class PersistenceRuntimeHintsTests {

    private static final JavaClasses PERSISTENCE = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(SemaphorePersistence.class.getPackageName());

    private final RuntimeHints hints = registered();

    @Test
    void areOfAllEntities() {
        assertThat(classes(PERSISTENCE.stream()
                        .filter(type -> type.isAnnotatedWith(Entity.class))
                        .toList()))
                .hasSameSizeAs(SemaphorePersistence.ENTITIES)
                .allMatch(reflectionOn(MemberCategory.INVOKE_DECLARED_CONSTRUCTORS))
                .allMatch(reflectionOn(MemberCategory.ACCESS_DECLARED_FIELDS));
    }

    @Test
    void areOfAllRowsThatQueriesReturn() {
        List<JavaClass> rows = PERSISTENCE.stream()
                .filter(type -> type.isRecord()
                        && type.getEnclosingClass()
                                .filter(outer -> outer.isAssignableTo(Repository.class))
                                .isPresent())
                .toList();

        assertThat(classes(rows)).isNotEmpty().allMatch(reflectionOn(MemberCategory.INVOKE_DECLARED_CONSTRUCTORS));
    }

    @Test
    void areOfTheProxiesOfAllRepositoriesAsTheyAre() {
        Set<Class<?>> repositories = classes(PERSISTENCE.stream()
                .filter(type -> type.isInterface() && type.isAssignableTo(Repository.class))
                .toList());
        assertThat(repositories).isNotEmpty();

        try (SessionFactory factory = factory()) {
            EntityManager entityManager = SharedEntityManagerCreator.createSharedEntityManager(factory);
            JpaRepositoryFactory made = new JpaRepositoryFactory(entityManager);
            made.setBeanClassLoader(getClass().getClassLoader());

            assertThat(proxies().forInterfaces(entityManager.getClass().getInterfaces()))
                    .accepts(hints);
            Map<Class<?>, RepositoryFragments> fragments = fragments(entityManager, factory);
            LazyRepositories lazy = new LazyRepositories(entityManager);
            assertThat(repositories)
                    .allSatisfy(repository -> assertThat(proxies()
                                    .forInterfaces(made.getRepository(
                                                    repository,
                                                    fragments.getOrDefault(repository, RepositoryFragments.empty()))
                                            .getClass()
                                            .getInterfaces()))
                            .accepts(hints))
                    .allSatisfy(repository -> assertThat(proxies()
                                    .forInterfaces(lazily(lazy, repository, fragments.get(repository))
                                            .getClass()
                                            .getInterfaces()))
                            .accepts(hints));
        }
    }

    private static Object lazily(LazyRepositories lazy, Class<?> repository, @Nullable RepositoryFragments fragments) {
        return fragments == null
                ? lazy.get(repository)
                : withFragment(
                        lazy,
                        repository,
                        fragments.stream()
                                .flatMap(fragment -> fragment.getImplementation().stream())
                                .findFirst()
                                .orElseThrow());
    }

    @SuppressWarnings("unchecked") // the implementation is of its own interface
    private static Object withFragment(LazyRepositories lazy, Class<?> repository, Object implementation) {
        return lazy.get(repository, (Class<Object>) implementation.getClass().getInterfaces()[0], implementation);
    }

    private static Map<Class<?>, RepositoryFragments> fragments(EntityManager entityManager, SessionFactory factory) {
        Sql sql = new Sql(entityManager);
        SessionFactoryImplementor mapping = factory.unwrap(SessionFactoryImplementor.class);
        return Map.of(
                SemaphoreRepository.class, RepositoryFragments.just(new SemaphoreStatementsImpl(sql, "")),
                PermitRequestRepository.class,
                        RepositoryFragments.just(new PermitRequestStatementsImpl(
                                sql, new RowInsert<>(mapping, PermitRequest.class, sql), Database.H2, "")),
                PermitRepository.class,
                        RepositoryFragments.just(new PermitStatementsImpl(
                                sql, new RowInsert<>(mapping, Permit.class, sql), Database.H2, "", null)),
                InstanceQueues.REPOSITORY, WaiterFragments.of(sql, mapping));
    }

    @Test
    void areOfTheConnectionsThatAreHandedOut() throws SQLException {
        DriverManagerDataSource host = new DriverManagerDataSource("jdbc:h2:mem:connections");
        Duration limit = Duration.ofSeconds(5);
        try (SemaphoreDataSource library =
                        new SemaphoreDataSource(host, Database.H2, limit, limit, 1, true, new DatabaseThreads(1));
                Connection connection = library.getConnection()) {
            assertThat(proxies().forInterfaces(connection.getClass().getInterfaces()))
                    .accepts(hints);
        }
    }

    @Test
    void areOfTheChangelogAndTheScripts() {
        assertThat(resource().forResource(SemaphoreTablesMissingException.CHANGELOG))
                .accepts(hints);
        assertThat(DatabaseKind.values())
                .allSatisfy(kind -> assertThat(resource().forResource(ChangelogScript.location(kind)))
                        .accepts(hints));
    }

    private Predicate<Class<?>> reflectionOn(MemberCategory category) {
        return type -> reflection().onType(type).withMemberCategory(category).test(hints);
    }

    /** As Spring finds them when it processes an application. */
    private static RuntimeHints registered() {
        RuntimeHints hints = new RuntimeHints();
        AotServices.factories().load(RuntimeHintsRegistrar.class).asList().stream()
                .filter(registrar -> registrar.getClass().getName().startsWith("io.dbsemaphore."))
                .forEach(registrar -> registrar.registerHints(hints, null));
        return hints;
    }

    private static Set<Class<?>> classes(List<JavaClass> types) {
        return types.stream().map(JavaClass::reflect).collect(Collectors.toSet());
    }

    private static SessionFactory factory() {
        Configuration unit = new Configuration().registerFunctionContributor(new DatabaseClockFunctions(Database.H2));
        SemaphorePersistence.ENTITIES.forEach(unit::addAnnotatedClass);
        unit.setProperty(JdbcSettings.JAKARTA_JDBC_URL, "jdbc:h2:mem:hints");
        return unit.buildSessionFactory();
    }
}
