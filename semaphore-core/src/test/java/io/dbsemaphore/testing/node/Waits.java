package io.dbsemaphore.testing.node;

import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.TestDatabase.Schema;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.springframework.jdbc.core.JdbcTemplate;

/** The sessions that wait for a lock in a schema, as the server reports them. */
public final class Waits {

    private static final Duration SOON = Duration.ofSeconds(20);

    private final JdbcTemplate jdbc;
    private final String schema;
    private final String query;

    public Waits(Schema schema) {
        this.jdbc = schema.jdbc();
        this.schema = schema.name();
        this.query = switch (schema.kind()) {
            case MYSQL, MARIADB -> """
                    select t.trx_query from information_schema.innodb_trx t
                    join information_schema.processlist p on p.id = t.trx_mysql_thread_id
                    where p.db = ? and t.trx_state = 'LOCK WAIT'""";
            case POSTGRESQL -> "select query from pg_stat_activity where datname = ? and wait_event_type = 'Lock'";
            case H2 -> throw new UnsupportedOperationException("H2 does not say who waits");
        };
    }

    /** Waits until a statement waits for a lock. */
    public void await(String partOfStatement) {
        Awaitility.await("a lock to be waited for")
                .atMost(SOON)
                .pollInterval(Duration.ofMillis(150)) // the server lists no news younger than 100 ms
                .until(() -> jdbc.queryForList(query, String.class, schema).stream()
                        .anyMatch(sql -> StatementGate.unqualified(sql).contains(partOfStatement)));
    }
}
