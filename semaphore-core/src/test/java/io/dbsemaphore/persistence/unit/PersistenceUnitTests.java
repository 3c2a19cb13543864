package io.dbsemaphore.persistence.unit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.jdbc.Sessions;
import io.dbsemaphore.testing.Concurrently;
import jakarta.persistence.AttributeConverter;
import jakarta.persistence.Convert;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** When Hibernate starts, and what a start that fails says. */
class PersistenceUnitTests {

    private static final Duration LIMIT = Duration.ofSeconds(5);

    private final Host host = new Host();
    private final Sessions connections =
            new Sessions(host, Database.H2, LIMIT, LIMIT, 4, false, new DatabaseThreads(4, new DaemonThreads()));
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
    void itsStartOccupiesOneThreadOfTheDatabase() throws Exception {
        host.answers = new CountDownLatch(1);
        List<Future<PersistenceUnit>> callers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            callers.add(Concurrently.async(() -> {
                unit.start();
                return unit;
            }));
        }
        callers.forEach(Concurrently::assertWaits);

        Future<String> other = Concurrently.async(() -> connections.threads().call(() -> "done"));

        assertThat(Concurrently.get(other, LIMIT)).isEqualTo("done");
        host.answers.countDown();
        for (Future<PersistenceUnit> caller : callers) {
            assertThat(Concurrently.get(caller)).isSameAs(unit);
        }
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

    /** Acquires and heartbeats may have no other connection than this one. */
    @Test
    void hasNoConnectionWhileItMapsTheEntities() {
        PersistenceUnit mapping = new PersistenceUnit(connections, UnaryOperator.identity(), List.of(Mapped.class));
        List<Long> inUse = new ArrayList<>();
        Probe.mapping = () -> inUse.add(host.inUse());

        mapping.start();
        mapping.close();

        assertThat(inUse).isNotEmpty().containsOnly(0L);
    }

    /** Their queries are parsed then, which takes long: not within the first transaction that uses them. */
    @Test
    void createsItsRepositoriesWhenItIsStarted() {
        PersistenceUnit unusable = new PersistenceUnit(connections, UnaryOperator.identity(), List.of(Mapped.class));
        var unused = unusable.repository(Unparsable.class);

        assertThatThrownBy(unusable::start).hasStackTraceContaining("Mapped is missing a from");

        unusable.close();
    }

    @Test
    void leavesNothingBehindIfTheServerCannotBeRead() {
        host.metadataFails = true;
        for (int i = 0; i < 3; i++) { // on each of the threads
            assertThatThrownBy(unit::start).hasStackTraceContaining("the connection was cut");
        }
        assertThat(host.inUse()).isZero();

        host.metadataFails = false;
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

    @Entity
    private static class Mapped {

        @Id
        private long id;

        @Convert(converter = Probe.class)
        private String text;
    }

    private interface Unparsable extends Repository<Mapped, Long> {

        @Query("select Mapped is missing a from")
        List<Mapped> find();
    }

    /** Hibernate creates it while it maps the entity. */
    private static final class Probe implements AttributeConverter<String, String> {

        private static Runnable mapping = () -> {};

        Probe() {
            mapping.run();
        }

        @Override
        public String convertToDatabaseColumn(String attribute) {
            return attribute;
        }

        @Override
        public String convertToEntityAttribute(String column) {
            return column;
        }
    }

    private static final class Host extends DriverManagerDataSource {

        final AtomicInteger opened = new AtomicInteger();
        private final List<Connection> connections = new CopyOnWriteArrayList<>();
        volatile boolean unreachable;
        volatile boolean metadataFails;
        volatile CountDownLatch answers = new CountDownLatch(0);

        Host() {
            super("jdbc:h2:mem:unit");
        }

        @Override
        public Connection getConnection() throws SQLException {
            if (unreachable) {
                throw new SQLException("the network is down", "08001");
            }
            opened.incrementAndGet();
            try {
                boolean unused = answers.await(20, TimeUnit.SECONDS);
            } catch (InterruptedException interrupt) {
                throw new SQLException(interrupt);
            }
            Connection connection = super.getConnection();
            connections.add(connection);
            return metadataFails ? withoutMetadata(connection) : connection;
        }

        private static Connection withoutMetadata(Connection connection) {
            return (Connection) Proxy.newProxyInstance(
                    Host.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("getMetaData")) {
                            throw new SQLException("the connection was cut", "08006");
                        }
                        return method.invoke(connection, arguments);
                    });
        }

        long inUse() {
            return connections.stream().filter(Host::isOpen).count();
        }

        private static boolean isOpen(Connection connection) {
            try {
                return !connection.isClosed();
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
