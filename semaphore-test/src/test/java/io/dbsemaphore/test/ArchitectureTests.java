package io.dbsemaphore.test;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.dbsemaphore.testing.OutermostClass;
import org.junit.jupiter.api.Test;

/** The structure: the support for tests depends on the public API without the engine, and Spring Boot is in one package. */
class ArchitectureTests {

    private static final String CONTRACT = "io.dbsemaphore";
    private static final String SUPPORT = CONTRACT + ".test";
    private static final String AUTOCONFIGURE = SUPPORT + ".autoconfigure";

    private static final JavaClasses LIBRARY = new ClassFileImporter()
            .importUrl(InMemorySemaphores.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation());

    @Test
    void looksAtEveryPackage() {
        assertThat(LIBRARY.stream().map(JavaClass::getPackageName).distinct())
                .containsExactlyInAnyOrder(SUPPORT, AUTOCONFIGURE);
    }

    @Test
    void dependsOnThePublicApi() {
        noClasses()
                .should()
                .dependOnClassesThat(resideInAPackage(CONTRACT + "..")
                        .and(not(resideInAnyPackage(
                                CONTRACT,
                                CONTRACT + ".admin",
                                CONTRACT + ".annotation",
                                CONTRACT + ".aop",
                                CONTRACT + ".config",
                                CONTRACT + ".spi",
                                SUPPORT,
                                AUTOCONFIGURE))))
                .check(LIBRARY);
    }

    @Test
    void springBootIsInOnePackage() {
        noClasses()
                .that()
                .resideInAPackage(SUPPORT)
                .should()
                .dependOnClassesThat(
                        resideInAnyPackage(AUTOCONFIGURE, "org.springframework.boot..", "org.springframework.test.."))
                .check(LIBRARY);
    }

    /** An application may have one without the other. */
    @Test
    void semaphoresInMemoryNeedNeitherJUnitNorAssertJ() {
        noClasses()
                .that()
                .haveSimpleNameStartingWith("InMemory")
                .should()
                .dependOnClassesThat(resideInAnyPackage("org.junit..", "org.assertj.."))
                .check(LIBRARY);
    }

    /** Classes that depend on each other can only be understood together. Nested classes count as their outermost one. */
    @Test
    void classesAreFreeOfCycles() {
        slices().assignedFrom(new OutermostClass()).should().beFreeOfCycles().check(LIBRARY);
    }
}
