package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.proxies;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.resource;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.engine.SemaphoreTablesMissingException;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.jdbc.Sessions;
import io.dbsemaphore.persistence.unit.PersistenceUnit;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.TestSettings;
import jakarta.persistence.Entity;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.hibernate.SessionFactory;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.beans.factory.aot.AotServices;
import org.springframework.data.repository.Repository;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.transaction.support.TransactionSynchronizationManager;

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

        try (Sessions library = library();
                PersistenceUnit unit = SemaphorePersistence.open(
                                library, Database.H2, "", Duration.ofSeconds(5), TestSettings.oneTripFrom(), null)
                        .unit()) {
            Set<Class<?>> proxies = new ShortTransaction(library, unit).executeWithRepositories(() -> {
                Set<Class<?>> made = new HashSet<>();
                repositories.forEach(
                        repository -> made.add(unit.repository(repository).get().getClass()));
                TransactionSynchronizationManager.getResourceMap().keySet().stream()
                        .filter(SessionFactory.class::isInstance)
                        .forEach(factory ->
                                made.add(SharedEntityManagerCreator.createSharedEntityManager((SessionFactory) factory)
                                        .getClass()));
                return made;
            });

            assertThat(proxies)
                    .hasSize(repositories.size() + 1)
                    .allSatisfy(proxy -> assertThat(proxies().forInterfaces(proxy.getInterfaces()))
                            .accepts(hints));
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

    private static Sessions library() {
        Duration limit = Duration.ofSeconds(5);
        return new Sessions(
                new DriverManagerDataSource("jdbc:h2:mem:hints"),
                Database.H2,
                limit,
                limit,
                1,
                true,
                new DatabaseThreads(1, new DaemonThreads()));
    }
}
