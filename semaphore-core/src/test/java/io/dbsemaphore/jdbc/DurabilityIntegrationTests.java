package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.node.Node;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** A server that may forget commits may forget grants: the start of an engine says so. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
class DurabilityIntegrationTests {

    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final Logger logger = (Logger) LoggerFactory.getLogger("io.dbsemaphore.jdbc");

    private Schema schema;

    @BeforeEach
    void start() {
        schema = TestDatabase.create().migrate();
        log.start();
        logger.addAppender(log);
    }

    @AfterEach
    void stop() {
        logger.detachAppender(log);
        schema.close();
    }

    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
    void warnsOfALogThatIsNotFlushedAtCommits() {
        assertThat(warningsWith("innodb_flush_log_at_trx_commit", "1")).isEmpty();

        assertThat(warningsWith("innodb_flush_log_at_trx_commit", "2"))
                .singleElement()
                .satisfies(warning -> assertThat(warning)
                        .contains("innodb_flush_log_at_trx_commit=2", "given to another caller", "Set it to 1"));
    }

    @Test
    @EnabledOnDatabase(DatabaseKind.MYSQL) // MariaDB writes no binary log by default
    void warnsOfABinaryLogThatIsNotFlushedAtCommits() {
        assertThat(warningsWith("sync_binlog", "0"))
                .singleElement()
                .satisfies(warning -> assertThat(warning).contains("sync_binlog=0"));
        assertThat(warningsWith("sync_binlog", "1000"))
                .singleElement()
                .satisfies(warning -> assertThat(warning).contains("sync_binlog=1000"));
    }

    /** As MariaDB has it by default, which does not know of a binary log in InnoDB before 12.3. */
    @Test
    @EnabledOnDatabase(DatabaseKind.MARIADB)
    void doesNotWarnOfABinaryLogThatIsNotWritten() {
        assertThat(schema.jdbc().queryForObject("select @@global.log_bin", String.class))
                .isEqualTo("0");

        assertThat(warningsWith("sync_binlog", "0")).isEmpty();
    }

    @Test
    @EnabledOnDatabase(DatabaseKind.POSTGRESQL)
    void warnsOfCommitsThatDoNotWait() {
        assertThat(warnings()).isEmpty();
        schema.jdbc().execute("alter database " + schema.name() + " set synchronous_commit = off");

        assertThat(warnings())
                .singleElement()
                .satisfies(
                        warning -> assertThat(warning).contains("synchronous_commit=off", "given to another caller"));
    }

    private List<String> warningsWith(String variable, String value) {
        String before = schema.jdbc().queryForObject("select @@global." + variable, String.class);
        schema.jdbc().execute("set global " + variable + " = " + value);
        try {
            return warnings().stream()
                    .filter(warning -> warning.contains(variable + "="))
                    .toList();
        } finally {
            schema.jdbc().execute("set global " + variable + " = " + before);
        }
    }

    /** What a start warns of, by a pool of its own. */
    private List<String> warnings() {
        log.list.clear();
        new Node(schema.newPool(2)).close();
        return log.list.stream()
                .filter(event -> event.getLevel() == Level.WARN)
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }
}
