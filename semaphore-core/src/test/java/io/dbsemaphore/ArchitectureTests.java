package io.dbsemaphore;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.line.Place;
import io.dbsemaphore.line.Places;
import io.dbsemaphore.testing.OutermostClass;
import jakarta.persistence.Entity;
import java.util.Date;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.springframework.data.repository.Repository;

/** The structure: dependencies point one way, and what is internal does not escape. */
class ArchitectureTests {

    private static final String CONTRACT = "io.dbsemaphore";
    private static final String ADMIN = CONTRACT + ".admin";
    private static final String SPI = CONTRACT + ".spi";
    private static final String ANNOTATION = "io.dbsemaphore.annotation";
    private static final String AOP = "io.dbsemaphore.aop";
    private static final String CONFIG = "io.dbsemaphore.config";
    private static final String ENGINE = "io.dbsemaphore.engine";
    private static final String BATCH = "io.dbsemaphore.engine.batch";
    private static final String HOLD = "io.dbsemaphore.engine.hold";
    private static final String REUSE = "io.dbsemaphore.engine.quota";
    private static final String DOMAIN = "io.dbsemaphore.domain";
    private static final String LINE = "io.dbsemaphore.line";
    private static final String PERSISTENCE = "io.dbsemaphore.persistence";
    private static final String UNIT = "io.dbsemaphore.persistence.unit";
    private static final String CONCURRENT = "io.dbsemaphore.concurrent";
    private static final String JDBC = "io.dbsemaphore.jdbc";

    private static final JavaClasses LIBRARY = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(CONTRACT);

    /** A value of the contract: says something, does nothing. */
    private static final DescribedPredicate<JavaClass> CONTRACT_VALUE = resideInAnyPackage(CONTRACT, ADMIN, SPI)
            .and(assignableTo(Record.class).or(assignableTo(Enum.class)).or(assignableTo(Throwable.class)))
            .as("a record, enum or exception of the contract");

    @Test
    void looksAtEveryPackage() {
        assertThat(LIBRARY.stream().map(JavaClass::getPackageName).distinct())
                .containsExactlyInAnyOrder(
                        CONTRACT,
                        ADMIN,
                        SPI,
                        ANNOTATION,
                        AOP,
                        CONFIG,
                        ENGINE,
                        BATCH,
                        HOLD,
                        REUSE,
                        DOMAIN,
                        LINE,
                        PERSISTENCE,
                        UNIT,
                        JDBC,
                        CONCURRENT);
    }

    @Test
    void theContractDependsOnNothingOfOurs() {
        mayDependOnlyOn(CONTRACT, CONTRACT);
        mayDependOnlyOn(ADMIN, CONTRACT);
        mayDependOnlyOn(SPI, CONTRACT);
    }

    @Test
    void annotationAndConfigDependOnTheContract() {
        mayDependOnlyOn(ANNOTATION, CONTRACT);
        mayDependOnlyOn(CONFIG, CONTRACT);
    }

    @Test
    void theAdviceDependsOnContractAnnotationAndThreads() {
        mayDependOnlyOn(AOP, CONTRACT, ANNOTATION, CONCURRENT);
    }

    @Test
    void theEngineDependsOnAllBelowIt() {
        mayDependOnlyOn(
                ENGINE, CONTRACT, CONFIG, BATCH, HOLD, REUSE, DOMAIN, LINE, PERSISTENCE, UNIT, JDBC, CONCURRENT);
    }

    @Test
    void thePartsOfTheEngineDoNotDependOnEachOther() {
        mayDependOnlyOn(BATCH, CONTRACT, DOMAIN, LINE, PERSISTENCE, UNIT, JDBC, CONCURRENT);
        mayDependOnlyOn(HOLD, CONTRACT, DOMAIN, PERSISTENCE, JDBC, CONCURRENT);
        mayDependOnlyOn(REUSE, CONTRACT, CONFIG, BATCH, HOLD, DOMAIN, PERSISTENCE, CONCURRENT);
    }

    @Test
    void theDomainDependsOnTheLineAndOnValuesOfTheContract() {
        mayDependOnlyOnAndOnValuesOfTheContract(DOMAIN, LINE);
        mayDependOnlyOn(LINE);
    }

    /** Another maker of places would be another order, unless it were changed with this one. */
    @Test
    void placesAreMadeInOneClass() {
        noClasses()
                .that()
                .doNotHaveFullyQualifiedName(Places.class.getName())
                .and()
                .doNotHaveFullyQualifiedName(Place.class.getName())
                .should()
                .callConstructor(Place.class, long.class, long.class)
                .check(LIBRARY);
    }

    @Test
    void persistenceDependsOnValuesOfTheContractAndOnWhatIsBelow() {
        mayDependOnlyOnAndOnValuesOfTheContract(PERSISTENCE, DOMAIN, LINE, UNIT, JDBC, CONCURRENT);
        mayDependOnlyOnAndOnValuesOfTheContract(UNIT, JDBC, CONCURRENT);
    }

    @Test
    void jdbcDependsOnThreadsOnly() {
        mayDependOnlyOn(JDBC, CONCURRENT);
    }

    @Test
    void threadsDependOnNothingOfOurs() {
        mayDependOnlyOn(CONCURRENT);
    }

    /** Whatever else makes a thread lets it inherit from its creator. */
    @Test
    void threadsAreMadeInOnePlace() {
        noClasses()
                .that()
                .doNotBelongToAnyOf(DaemonThreads.class)
                .should()
                .callConstructorWhere(DescribedPredicate.describe(
                        "makes a thread", call -> call.getTargetOwner().isAssignableTo(Thread.class)))
                .check(LIBRARY);
    }

    @Test
    void packagesAreFreeOfCycles() {
        slices().matching("io.dbsemaphore.(**)").should().beFreeOfCycles().check(LIBRARY);
    }

    /** Classes that depend on each other can only be understood together. Nested classes count as their outermost one. */
    @Test
    void classesAreFreeOfCycles() {
        slices().assignedFrom(new OutermostClass()).should().beFreeOfCycles().check(LIBRARY);
    }

    @Test
    void theContractKnowsNeitherJpaNorHibernateNorSpringData() {
        noClasses()
                .that()
                .resideInAnyPackage(CONTRACT, ADMIN, SPI, ANNOTATION, AOP)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "jakarta.persistence..",
                        "org.hibernate..",
                        "org.springframework.data..",
                        "org.springframework.orm..",
                        "org.springframework.jdbc..")
                .check(LIBRARY);
    }

    @Test
    void entitiesAndRepositoriesDoNotEscape() {
        classes()
                .that()
                .areAnnotatedWith(Entity.class)
                .or()
                .areAssignableTo(Repository.class)
                .should()
                .bePackagePrivate()
                .andShould()
                .resideInAnyPackage(PERSISTENCE)
                .check(LIBRARY);
    }

    @Test
    void timeIsJavaTime() {
        noClasses()
                .should()
                .dependOnClassesThat(assignableTo(Date.class)
                        .or(DescribedPredicate.describe(
                                "of the old calendar",
                                type -> type.getName().startsWith("java.util.Calendar")
                                        || type.getName().startsWith("java.util.GregorianCalendar"))))
                .check(LIBRARY);
    }

    @Test
    void everyPackageIsNullMarked() {
        assertThat(LIBRARY.getPackage(CONTRACT).getSubpackagesInTree().stream()
                        .flatMap(each -> Stream.of(each, LIBRARY.getPackage(CONTRACT)))
                        .filter(each -> !each.getClasses().isEmpty())
                        .distinct())
                .isNotEmpty()
                .allSatisfy(each ->
                        assertThat(isNullMarked(each)).as(each.getName()).isEqualTo(true));
    }

    @Test
    void nobodyWritesToTheConsole() {
        NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS.check(LIBRARY);
        NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING.check(LIBRARY);
    }

    @Test
    void nobodySleeps() {
        noClasses()
                .should()
                .accessTargetWhere(DescribedPredicate.<JavaAccess<?>>describe(
                        "Thread.sleep",
                        access -> access.getTargetOwner().isEquivalentTo(Thread.class)
                                && access.getName().equals("sleep")))
                .check(LIBRARY);
    }

    /** @param others the packages; the contract includes {@link #ADMIN} and {@link #SPI} */
    private static void mayDependOnlyOn(String from, String... others) {
        String[] contract = List.of(others).contains(CONTRACT) ? new String[] {ADMIN, SPI} : new String[0];
        noClasses()
                .that()
                .resideInAPackage(from)
                .should()
                .dependOnClassesThat(resideInAPackage(CONTRACT + "..")
                        .and(not(resideInAPackage(from)))
                        .and(not(resideInAnyPackage(others)))
                        .and(not(resideInAnyPackage(contract))))
                .check(LIBRARY);
    }

    private static void mayDependOnlyOnAndOnValuesOfTheContract(String from, String... others) {
        noClasses()
                .that()
                .resideInAPackage(from)
                .should()
                .dependOnClassesThat(resideInAPackage(CONTRACT + "..")
                        .and(not(resideInAPackage(from)))
                        .and(not(resideInAnyPackage(others)))
                        .and(not(CONTRACT_VALUE)))
                .check(LIBRARY);
    }

    private static boolean isNullMarked(JavaPackage javaPackage) {
        return javaPackage.isAnnotatedWith(NullMarked.class);
    }
}
