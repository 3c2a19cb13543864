package io.dbsemaphore.boot.adapters;

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
import io.dbsemaphore.boot.mutex.MutexRequests;
import io.dbsemaphore.engine.hold.GrantHandle;
import io.dbsemaphore.testing.OutermostClass;
import org.junit.jupiter.api.Test;

/** The structure: the adapters do not depend on each other, and use one internal class of {@code semaphore-core}. */
class ArchitectureTests {

    private static final String CONTRACT = "io.dbsemaphore";
    private static final String ADMIN = CONTRACT + ".admin";
    private static final String CONFIG = CONTRACT + ".config";
    private static final String ENGINE = CONTRACT + ".engine";
    private static final String STARTER = CONTRACT + ".boot";
    private static final String AUTOCONFIGURE = STARTER + ".autoconfigure";
    private static final String INTEGRATION = STARTER + ".integration";
    private static final String MUTEX = STARTER + ".mutex";
    private static final String SHEDLOCK = STARTER + ".shedlock";

    private static final DescribedPredicate<JavaClass> NOTHING_INTERNAL = DescribedPredicate.alwaysFalse();
    private static final DescribedPredicate<JavaClass> HANDLES = belongToAnyOf(GrantHandle.class);

    private static final JavaClasses LIBRARY = new ClassFileImporter()
            .importUrl(MutexRequests.class.getProtectionDomain().getCodeSource().getLocation());

    @Test
    void looksAtEveryPackage() {
        assertThat(LIBRARY.stream().map(JavaClass::getPackageName).distinct())
                .containsExactlyInAnyOrder(INTEGRATION, MUTEX, SHEDLOCK);
    }

    @Test
    void theAdaptersDependOnThePublicApiAndOnMutex() {
        mayDependOnlyOn(INTEGRATION, NOTHING_INTERNAL, CONTRACT, CONFIG, ENGINE, AUTOCONFIGURE, MUTEX);
        mayDependOnlyOn(SHEDLOCK, HANDLES, CONTRACT, CONFIG, ENGINE, AUTOCONFIGURE, MUTEX);
        mayDependOnlyOn(MUTEX, NOTHING_INTERNAL, CONTRACT, CONFIG);
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
                        .and(not(resideInAPackage(ADMIN)))
                        .and(not(resideInAnyPackage(others)))
                        .and(not(internal)))
                .check(LIBRARY);
    }
}
