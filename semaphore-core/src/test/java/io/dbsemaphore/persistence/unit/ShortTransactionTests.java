package io.dbsemaphore.persistence.unit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.jdbc.Sessions;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabase;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;

class ShortTransactionTests {

    private static final Duration LIMIT = Duration.ofSeconds(5);

    private final EmbeddedDatabase host = new EmbeddedDatabaseBuilder()
            .setType(EmbeddedDatabaseType.H2)
            .generateUniqueName(true)
            .build();
    private final Sessions sessions =
            new Sessions(host, Database.H2, LIMIT, LIMIT, 1, false, new DatabaseThreads(1, new DaemonThreads()));
    private final ShortTransaction transaction =
            new ShortTransaction(sessions, new PersistenceUnit(sessions, UnaryOperator.identity(), List.of()));

    @AfterEach
    void close() {
        sessions.close();
        host.shutdown();
    }

    @Test
    void writesAllOrNothing() {
        JdbcTemplate jdbc = new JdbcTemplate(host);
        jdbc.execute("create table written (n int)");
        Sql sql = new Sql(sessions, Database.H2, "");

        assertThatExceptionOfType(NoClassDefFoundError.class)
                .isThrownBy(() -> transaction.run(() -> {
                    sql.execute("insert into written values (1)");
                    throw new NoClassDefFoundError("a driver that does not link");
                }));
        transaction.run(() -> sql.update("insert into written values (2)"));

        assertThat(jdbc.queryForList("select n from written", Integer.class)).containsExactly(2);
    }

    /** The only connection would be waited for. */
    @Test
    void isRefusedWithinAnotherOne() {
        assertThatExceptionOfType(DataAccessResourceFailureException.class)
                .isThrownBy(() -> transaction.run(() -> transaction.run(() -> {})))
                .havingCause()
                .withMessageContaining("within another");

        assertThat(transaction.<Integer>execute(() -> 1)).isEqualTo(1);
    }
}
