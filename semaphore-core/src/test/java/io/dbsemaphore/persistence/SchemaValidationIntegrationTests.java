package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.testing.TestDatabase;
import org.hibernate.cfg.Configuration;
import org.hibernate.cfg.JdbcSettings;
import org.hibernate.cfg.SchemaToolingSettings;
import org.hibernate.tool.schema.spi.SchemaManagementException;
import org.junit.jupiter.api.Test;

/** The entities match the tables of the changelog, as Hibernate's {@code validate} checks it. */
class SchemaValidationIntegrationTests {

    @Test
    void theTablesOfTheChangelogMatchTheEntities() {
        try (TestDatabase.Schema schema = TestDatabase.create()) {
            schema.migrate();
            try (HikariDataSource pool = schema.newPool(2)) {
                assertThatCode(() -> validate(pool)).doesNotThrowAnyException();
            }
        }
    }

    @Test
    void detectsAMissingColumn() {
        try (TestDatabase.Schema schema = TestDatabase.create()) {
            schema.migrate();
            schema.jdbc().execute("alter table semaphore drop column fence");
            try (HikariDataSource pool = schema.newPool(2)) {
                assertThatThrownBy(() -> validate(pool))
                        .isInstanceOf(SchemaManagementException.class)
                        .hasMessageContaining("fence");
            }
        }
    }

    private static void validate(HikariDataSource pool) {
        Configuration unit = new Configuration();
        SemaphorePersistence.ENTITIES.forEach(unit::addAnnotatedClass);
        unit.getProperties().put(JdbcSettings.JAKARTA_NON_JTA_DATASOURCE, pool);
        unit.getProperties().put(SchemaToolingSettings.HBM2DDL_AUTO, "validate");
        unit.buildSessionFactory().close();
    }
}
