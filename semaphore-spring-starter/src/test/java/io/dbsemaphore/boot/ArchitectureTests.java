package io.dbsemaphore.boot;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.jdbc.DatabaseUrl;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.testing.OutermostClass;
import org.junit.jupiter.api.Test;

/** The structure: dependencies point one way, and few internal classes of {@code semaphore-core} are used. */
class ArchitectureTests {

    private static final String CONTRACT = "io.dbsemaphore";
    private static final String ADMIN = CONTRACT + ".admin";
    private static final String SPI = CONTRACT + ".spi";
    private static final String ANNOTATION = "io.dbsemaphore.annotation";
    private static final String AOP = "io.dbsemaphore.aop";
    private static final String CONFIG = "io.dbsemaphore.config";
    private static final String ENGINE = "io.dbsemaphore.engine";

    private static final String STARTER = "io.dbsemaphore.boot";
    private static final String ACTUATE = STARTER + ".actuate";
    private static final String AUTOCONFIGURE = STARTER + ".autoconfigure";
    private static final String METRICS = STARTER + ".metrics";
    private static final String WEB = STARTER + ".web";

    private static final DescribedPredicate<JavaClass> NOTHING_INTERNAL = DescribedPredicate.alwaysFalse();
    private static final DescribedPredicate<JavaClass> ERRORS = belongToAnyOf(SqlErrors.class, DatabaseUrl.class);
    private static final DescribedPredicate<JavaClass> THREADS = belongToAnyOf(DaemonThreads.class);

    private static final JavaClasses LIBRARY = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(STARTER);

    @Test
    void looksAtEveryPackage() {
        assertThat(LIBRARY.stream().map(JavaClass::getPackageName).distinct())
                .containsExactlyInAnyOrder(ACTUATE, AUTOCONFIGURE, METRICS, WEB);
    }

    @Test
    void autoConfigurationDependsOnThePublicApiAndOnTheMeaningOfErrors() {
        mayDependOnlyOn(AUTOCONFIGURE, ERRORS, CONTRACT, ANNOTATION, AOP, CONFIG, ENGINE);
    }

    @Test
    void theActuatorSupportDependsOnThePublicApi() {
        mayDependOnlyOn(ACTUATE, NOTHING_INTERNAL, CONTRACT, CONFIG, ENGINE, AUTOCONFIGURE);
    }

    @Test
    void metricsDependOnThePublicApiAndOnThreads() {
        mayDependOnlyOn(METRICS, THREADS, CONTRACT, CONFIG, ENGINE, AUTOCONFIGURE);
    }

    @Test
    void theAnswerToARefusedRequestDependsOnThePublicApi() {
        mayDependOnlyOn(WEB, NOTHING_INTERNAL, CONTRACT, AUTOCONFIGURE);
    }

    @Test
    void packagesAreFreeOfCycles() {
        slices().matching("io.dbsemaphore.boot.(**)").should().beFreeOfCycles().check(LIBRARY);
    }

    /** Classes that depend on each other can only be understood together. Nested classes count as their outermost one. */
    @Test
    void classesAreFreeOfCycles() {
        slices().assignedFrom(new OutermostClass()).should().beFreeOfCycles().check(LIBRARY);
    }

    private static void mayDependOnlyOn(String from, DescribedPredicate<JavaClass> internal, String... others) {
        noClasses()
                .that()
                .resideInAPackage(from)
                .should()
                .dependOnClassesThat(resideInAPackage(CONTRACT + "..")
                        .and(not(resideInAPackage(from)))
                        .and(not(resideInAnyPackage(ADMIN, SPI)))
                        .and(not(resideInAnyPackage(others)))
                        .and(not(internal)))
                .check(LIBRARY);
    }
}
