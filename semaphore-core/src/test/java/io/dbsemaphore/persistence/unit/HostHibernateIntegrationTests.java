package io.dbsemaphore.persistence.unit;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.ChildJvm;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.hibernate.cfg.BatchSettings;
import org.hibernate.cfg.JdbcSettings;
import org.hibernate.cfg.MappingSettings;
import org.hibernate.cfg.MultiTenancySettings;
import org.hibernate.cfg.SchemaToolingSettings;
import org.hibernate.cfg.TransactionSettings;
import org.hibernate.dialect.OracleDialect;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Settings of the host's Hibernate that each Hibernate of its JVM begins with: a file {@code hibernate.properties} on the class path, and
 * system properties.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostHibernateIntegrationTests {

    private static final Duration START = Duration.ofSeconds(60);

    private static final Map<String, String> SETTINGS = Map.of(
            MappingSettings.DEFAULT_SCHEMA, "elsewhere",
            MappingSettings.PHYSICAL_NAMING_STRATEGY, HostHibernateProcess.Naming.class.getName(),
            MappingSettings.GLOBALLY_QUOTED_IDENTIFIERS, "true",
            JdbcSettings.DIALECT, OracleDialect.class.getName(),
            BatchSettings.STATEMENT_BATCH_SIZE, "50",
            TransactionSettings.TRANSACTION_COORDINATOR_STRATEGY, "jta",
            MultiTenancySettings.MULTI_TENANT_IDENTIFIER_RESOLVER, HostHibernateProcess.Tenants.class.getName(),
            SchemaToolingSettings.HBM2DDL_AUTO, "create-drop",
            SchemaToolingSettings.JAKARTA_HBM2DDL_DATABASE_ACTION, "drop-and-create");

    private Schema schema;
    private PermitGrant held;

    @BeforeEach
    void hold() {
        schema = TestDatabase.createForProcesses().migrate();
        Node node = Node.on(schema);
        node.admin().create("held-before", 1);
        held = node.semaphores().acquire(AcquireRequest.of("held-before").withoutTtl());
        node.close();
    }

    @AfterEach
    void drop() {
        schema.close();
    }

    @Test
    void settingsInAFileDoNotReachTheLibrary(@TempDir Path folder) throws IOException {
        Properties file = new Properties();
        file.putAll(SETTINGS);
        try (Writer written = Files.newBufferedWriter(folder.resolve("hibernate.properties"))) {
            file.store(written, null);
        }

        assertUndisturbed(schema.handOver(), folder.toString());
    }

    @Test
    void systemPropertiesDoNotReachTheLibrary() {
        Map<String, String> properties = new HashMap<>(schema.handOver());
        properties.putAll(SETTINGS);

        assertUndisturbed(properties);
    }

    private void assertUndisturbed(Map<String, String> systemProperties, String... arguments) {
        try (ChildJvm host = ChildJvm.start(HostHibernateProcess.class, systemProperties, arguments)) {
            assertThat(host.awaitLine("INHERITED", START)).isEqualTo("INHERITED elsewhere");
            assertThat(host.awaitLine("REPORTS", START)).isEqualTo("REPORTS 3 1 1 true");
            assertThat(host.awaitLine("MAINTENANCE", START)).isEqualTo("MAINTENANCE 0 0 0");
            assertThat(host.awaitLine("DELETED", START)).isEqualTo("DELETED true");
            assertThat(host.awaitExit(START)).isZero();
        }
        assertThat(SemaphoreRows.states(schema, held.externalId())).containsExactly("ACQUIRED");
    }
}
