package io.dbsemaphore.engine.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.rerun.Promise;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.IllegalTransactionStateException;

/** {@code requireHeld} in a transaction of the semaphores' {@code DataSource} that was routed to another database. */
@Promise
class RequireHeldElsewhereIntegrationTests {

    private static final ThreadLocal<@Nullable String> ROUTE = new ThreadLocal<>();

    private static Schema schema;
    private static Schema elsewhere;
    private static Schema empty;
    private static Schema replica;
    private static Node node;

    private final String name = node.semaphore(1);
    private final PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name));

    @BeforeAll
    static void start() {
        schema = TestDatabase.create().migrate();
        elsewhere = TestDatabase.create().migrate();
        empty = TestDatabase.create();
        replica = TestDatabase.create().migrate();
        AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {
            @Override
            protected @Nullable Object determineCurrentLookupKey() {
                return ROUTE.get();
            }
        };
        routing.setDefaultTargetDataSource(schema.newPool(6));
        routing.setTargetDataSources(
                Map.of("elsewhere", dataSource(elsewhere), "empty", dataSource(empty), "replica", dataSource(replica)));
        routing.afterPropertiesSet();
        node = new Node(routing);
    }

    @AfterAll
    static void stop() {
        node.close();
        List.of(schema, elsewhere, empty, replica).forEach(Schema::close);
    }

    @AfterEach
    void release() {
        ROUTE.remove();
        grant.release();
    }

    /** On MySQL and MariaDB a session reaches all databases of its server, by their names. */
    @Test
    @EnabledOnDatabase({DatabaseKind.POSTGRESQL, DatabaseKind.H2})
    void isRefusedInADatabaseWithAnotherSemaphoreOfThatName() {
        try (Node neighbour = Node.on(elsewhere)) {
            neighbour.admin().create(name, 1);
        }

        assertRefused("elsewhere", "'" + name + "'", "not known", "DataSource of the semaphores");

        assertThat(grant.isHeld()).isTrue();
        assertThat(node.events().subjects("lost")).doesNotContain(grant.externalId());
    }

    /** On MySQL and MariaDB a session reaches all databases of its server, by their names. */
    @Test
    @EnabledOnDatabase({DatabaseKind.POSTGRESQL, DatabaseKind.H2})
    void isRefusedInADatabaseWithoutTheTables() {
        assertRefused("empty", "without the tables", "DataSource of the semaphores");

        assertThat(grant.isHeld()).isTrue();
    }

    /** As in a session of another server. */
    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
    void isRefusedOnAServerWithoutTheDatabase() {
        Schema dropped = TestDatabase.create().migrate();
        try (Node alone = Node.on(dropped)) {
            PermitGrant held = alone.semaphores().acquire(AcquireRequest.of(alone.semaphore(1)));

            assertThatExceptionOfType(IllegalTransactionStateException.class)
                    .isThrownBy(() -> alone.transaction().executeWithoutResult(status -> {
                        schema.jdbc().execute("drop database " + dropped.name());
                        alone.semaphores().requireHeld(held);
                    }))
                    .withMessageContainingAll("without the tables", "DataSource of the semaphores");
        } finally {
            schema.jdbc().execute("create database if not exists " + dropped.name());
            dropped.close();
        }
    }

    /** It would let a transaction commit whose permit somebody else has. */
    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
    void isRefusedOnAReplicaThatDoesNotKnowOfARelease() {
        List.of("semaphore", "permit_request", "permit").forEach(RequireHeldElsewhereIntegrationTests::replicate);
        try (Node operator = Node.on(schema)) {
            operator.admin().forceRelease(grant.externalId(), "operator", "a drill");
        }
        setReadOnly(true);
        try {
            ROUTE.set("replica");
            assertThat(node.jdbc().queryForList("select state from permit", String.class))
                    .contains("ACQUIRED");

            assertRefused("replica", "read-only", "DataSource of the semaphores");
        } finally {
            setReadOnly(false);
        }
    }

    private void assertRefused(String route, String... messageParts) {
        ROUTE.set(route);
        assertThatExceptionOfType(IllegalTransactionStateException.class)
                .isThrownBy(() -> node.transaction()
                        .executeWithoutResult(status -> node.semaphores().requireHeld(grant)))
                .withMessageContaining(grant.externalId())
                .withMessageContainingAll(messageParts);
    }

    private static void replicate(String table) {
        for (Map<String, Object> row : schema.jdbc().queryForList("select * from " + table)) {
            String values = row.keySet().stream().map(column -> "?").collect(Collectors.joining(", "));
            replica.jdbc()
                    .update(
                            "insert into %s (%s) values (%s)".formatted(table, String.join(", ", row.keySet()), values),
                            row.values().toArray());
        }
    }

    /** The server, where all can write that has the privileges of an administrator; on PostgreSQL the sessions that begin from now on. */
    private static void setReadOnly(boolean readOnly) {
        replica.jdbc()
                .execute(
                        TestDatabase.kind() == DatabaseKind.POSTGRESQL
                                ? "alter database %s set default_transaction_read_only = %s"
                                        .formatted(replica.name(), readOnly)
                                : "set global read_only = " + readOnly);
    }

    /** Without a pool, so that each transaction has a session of its own. */
    private static DataSource dataSource(Schema of) {
        return new DriverManagerDataSource(of.jdbcUrl(), of.username(), of.password());
    }
}
