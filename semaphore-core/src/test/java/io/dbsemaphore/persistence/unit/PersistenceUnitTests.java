package io.dbsemaphore.persistence.unit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.jdbc.Sessions;
import io.dbsemaphore.testing.Concurrently;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** When Hibernate starts, and what a start that fails says. */
class PersistenceUnitTests {

    private static final Duration LIMIT = Duration.ofSeconds(5);

    private final Host host = new Host();
    private final Sessions connections =
            new Sessions(host, Database.H2, LIMIT, LIMIT, 2, false, new DatabaseThreads(2, new DaemonThreads()));
    private final PersistenceUnit unit = new PersistenceUnit(connections, UnaryOperator.identity(), List.of());

    @AfterEach
    void close() {
        unit.close();
        connections.close();
    }

    @Test
    void isStartedOnceByConcurrentCallers() {
        PersistenceUnit another = new PersistenceUnit(connections, UnaryOperator.identity(), List.of());
        another.start();
        another.close();
        int ofOneStart = host.opened.getAndSet(0);

        Concurrently.run(8, LIMIT.multipliedBy(12), thread -> unit.start());

        assertThat(unit.isStarted()).isEqualTo(true);
        assertThat(host.opened).as("connections").hasValue(ofOneStart);
    }

    @Test
    void isStartedAgainAfterAFailureThatNamesItsCause() {
        host.unreachable = true;
        assertThatExceptionOfType(DataAccessResourceFailureException.class)
                .isThrownBy(unit::start)
                .withMessageContaining("the network is down");
        assertThat(unit.isStarted()).isEqualTo(false);
        host.unreachable = false;

        unit.start();

        assertThat(unit.isStarted()).isEqualTo(true);
    }

    @Test
    void isNotStartedWithinATransaction() {
        ShortTransaction transaction = new ShortTransaction(connections, unit);

        assertThatIllegalStateException()
                .isThrownBy(() -> transaction.execute(
                        () -> unit.repository(Runnable.class).get()))
                .withMessageContaining("has not started Hibernate");
        assertThat(unit.isStarted()).isEqualTo(false);
    }

    @Test
    void isNotStartedOnceClosed() {
        unit.close();

        assertThatIllegalStateException().isThrownBy(unit::start).withMessageContaining("closed");
    }

    private static final class Host extends DriverManagerDataSource {

        final AtomicInteger opened = new AtomicInteger();
        volatile boolean unreachable;

        Host() {
            super("jdbc:h2:mem:unit");
        }

        @Override
        public Connection getConnection() throws SQLException {
            if (unreachable) {
                throw new SQLException("the network is down", "08001");
            }
            opened.incrementAndGet();
            return super.getConnection();
        }
    }
}
