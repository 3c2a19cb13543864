package io.dbsemaphore.persistence.unit;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestSettings;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** An application that logs its SQL can distinguish the statements of the library from its own, and disable them. */
class LibrarySqlLoggerIntegrationTests {

    private static final Logger HIBERNATE = (Logger) LoggerFactory.getLogger("org.hibernate.SQL");
    private static final Logger LIBRARY = (Logger) LoggerFactory.getLogger("io.dbsemaphore.sql");

    private final ListAppender<ILoggingEvent> ofHibernate = new ListAppender<>();
    private final ListAppender<ILoggingEvent> ofLibrary = new ListAppender<>();

    @BeforeEach
    void listen() {
        listen(HIBERNATE, ofHibernate);
        listen(LIBRARY, ofLibrary);
    }

    private static void listen(Logger logger, ListAppender<ILoggingEvent> appender) {
        appender.start();
        logger.addAppender(appender);
        logger.setLevel(Level.DEBUG);
        logger.setAdditive(false);
    }

    @AfterEach
    void stopListening() {
        stopListening(HIBERNATE, ofHibernate);
        stopListening(LIBRARY, ofLibrary);
    }

    private static void stopListening(Logger logger, ListAppender<ILoggingEvent> appender) {
        logger.detachAppender(appender);
        logger.setLevel(null);
        logger.setAdditive(true);
    }

    @Test
    void separatesTheStatementsOfTheLibrary() {
        useTheLibrary();

        assertThat(ofHibernate.list).isEmpty();
        assertThat(messages())
                .anyMatch(statement -> statement.startsWith("select") && statement.contains("from semaphore"))
                .anyMatch(statement -> statement.startsWith("insert into permit_request"))
                .anyMatch(statement -> statement.contains("from permit p1_0"));
    }

    @Test
    void isDisabledSeparately() {
        LIBRARY.setLevel(Level.INFO);

        useTheLibrary();

        assertThat(ofHibernate.list).isEmpty();
        assertThat(ofLibrary.list).isEmpty();
    }

    private static void useTheLibrary() {
        try (TestDatabase.Schema database = TestDatabase.create().migrate();
                HikariDataSource pool = database.newPool(4);
                SemaphoreEngine engine = new SemaphoreEngine(pool, TestSettings.defaults())) {
            engine.admin().create("backup", 1);
            new SemaphoreTemplate(engine.permitManager())
                    .executeWithoutResult(AcquireRequest.of("backup"), grant -> {});
            assertThat(engine.admin().holders("backup")).isEmpty(); // a query of Hibernate
        }
    }

    private List<String> messages() {
        return List.copyOf(ofLibrary.list).stream()
                .map(ILoggingEvent::getFormattedMessage)
                .map(StatementGate::unqualified)
                .toList();
    }
}
