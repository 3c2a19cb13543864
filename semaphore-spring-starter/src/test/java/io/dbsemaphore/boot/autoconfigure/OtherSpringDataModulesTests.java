package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.testing.Slow;
import org.junit.jupiter.api.Test;

/**
 * Applications with another Spring Data module than JPA: started as {@code main} does, on a class path on which the library's
 * Spring Data JPA is, and Spring Boot's support for JPA is only if the application has it.
 */
class OtherSpringDataModulesTests {

    private static final String[] JPA_OF_THE_APPLICATION = {
        "spring-boot-starter-data-jpa", "spring-boot-data-jpa", "spring-boot-hibernate", "spring-boot-jpa"
    };
    private static final String MODULES = "other-spring-data-modules";
    private static final String[] JDBC = {"spring-data-jdbc", "spring-data-relational", "spring-boot-data-jdbc"};
    private static final String[] MONGODB = {
        "spring-data-mongodb", "spring-boot-data-mongodb", "spring-boot-mongodb", "mongodb-driver", "bson"
    };

    @Test
    void findsPlainRepositoriesOfSpringDataJdbc() {
        ClassPath.without(JPA_OF_THE_APPLICATION).with(MODULES, JDBC).call(WithOtherSpringDataModules.class, "jdbc");
    }

    @Slow
    @Test
    void findsPlainRepositoriesOfMongoDb() {
        ClassPath.without(JPA_OF_THE_APPLICATION)
                .with(MODULES, MONGODB)
                .call(WithOtherSpringDataModules.class, "mongodb");
    }

    @Slow
    @Test
    void staysStrictWhereTheApplicationHasTwoModulesBesideTheLibrarys() {
        ClassPath.without(JPA_OF_THE_APPLICATION)
                .with(MODULES, JDBC)
                .with(MODULES, MONGODB)
                .call(WithOtherSpringDataModules.class, "strict");
    }

    @Slow
    @Test
    void staysStrictWhereTheApplicationUsesJpaByAutoConfiguration() {
        ClassPath.without().with(MODULES, JDBC).call(WithOtherSpringDataModules.class, "strict");
    }

    @Slow
    @Test
    void staysStrictWhereTheApplicationUsesJpaByAnnotation() {
        ClassPath.without(JPA_OF_THE_APPLICATION)
                .with(MODULES, JDBC)
                .call(WithOtherSpringDataModules.class, "enabledByHand");
    }

    @Slow
    @Test
    void areToldWhatToAnnotateWhereSpringApplicationDoesNotCreateTheContext() {
        ClassPath.without(JPA_OF_THE_APPLICATION)
                .with(MODULES, JDBC)
                .call(WithOtherSpringDataModules.class, "withoutSpringApplication");
    }
}
