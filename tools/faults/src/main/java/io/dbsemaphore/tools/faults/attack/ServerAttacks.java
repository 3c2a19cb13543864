package io.dbsemaphore.tools.faults.attack;

import io.dbsemaphore.tools.faults.oracle.Event;
import io.dbsemaphore.tools.faults.oracle.Event.Kind;
import io.dbsemaphore.tools.faults.oracle.OracleServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;

/** The attacks on the server, one at a time. */
final class ServerAttacks {

    private static final int NO_SUCH_SESSION = 1094;
    private static final int FEWEST_CONNECTIONS = 10;
    private static final Duration RECOVERY = Duration.ofMinutes(3);
    private static final long HOUR = Duration.ofHours(1).toSeconds();

    private final DatabaseServer server;
    private final OracleServer oracle;
    private final Pauses pauses;
    private final ReentrantLock lock = new ReentrantLock();

    ServerAttacks(DatabaseServer server, OracleServer oracle, Pauses pauses) {
        this.server = server;
        this.oracle = oracle;
        this.pauses = pauses;
    }

    List<Attack> all() {
        List<Attack> all = new ArrayList<>();
        if (server.canBeKilled()) {
            all.add(new Attack("server killed", Duration.ofSeconds(20), alone(this::kill)));
        }
        if (server.canFillDisk()) {
            all.add(new Attack("disk full", Duration.ofSeconds(45), alone(this::fillDisk)));
        }
        if (server.canStepClock()) {
            all.add(new Attack("server clock stepped", Duration.ofSeconds(40), alone(this::stepClock)));
        }
        if (server.isMySql()) {
            all.add(new Attack("server read-only", Duration.ofSeconds(25), alone(this::makeReadOnly)));
            all.add(new Attack("too many connections", Duration.ofSeconds(30), alone(this::allowFewConnections)));
        }
        return all;
    }

    private Attack.Action alone(Attack.Action action) {
        return random -> {
            lock.lock();
            try {
                if (!pauses.isStopped()) {
                    action.run(random);
                }
            } finally {
                lock.unlock();
            }
        };
    }

    private void kill(Random random) throws Exception {
        oracle.tell(Event.fault("server-killed", Event.SERVER));
        oracle.tell(Event.of(Kind.SERVER_DOWN, Event.SERVER, "", ""));
        server.kill();
        pauses.pause(random.nextInt(1000));
        server.start();
        awaitServer();
        oracle.tell(Event.of(Kind.SERVER_READY, Event.SERVER, "", ""));
    }

    private void awaitServer() throws InterruptedException {
        for (long end = System.nanoTime() + Duration.ofMinutes(2).toNanos(); true; ) {
            try (Connection connection = server.connect()) {
                return;
            } catch (SQLException away) {
                if (System.nanoTime() > end) {
                    throw new IllegalStateException("The server does not answer after its restart", away);
                }
                Thread.sleep(20);
            }
        }
    }

    /** A server that has ended itself is started again when there is space. */
    private void fillDisk(Random random) throws Exception {
        oracle.tell(Event.fault("disk-full", Event.SERVER));
        server.fillDisk();
        try {
            pauses.pause(500 + random.nextInt(4000));
        } finally {
            server.freeDisk();
        }
        long end = System.nanoTime() + RECOVERY.toNanos();
        while (!writes()) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("The server does not write although its disk has space");
            }
            if (!server.isRunning()) {
                server.start();
            }
            Thread.sleep(100);
        }
        calm();
    }

    /** A MySQL that waits for space looks again after a minute. */
    private boolean writes() {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            statement.executeUpdate("insert into faults_ledger values ('%s', 0)".formatted(UUID.randomUUID()));
            return true;
        } catch (SQLException full) {
            return false;
        }
    }

    /** An hour back, and forward again: all that was granted meanwhile has then expired. */
    private void stepClock(Random random) throws Exception {
        for (long seconds : new long[] {-HOUR, 0}) {
            oracle.tell(Event.fault(seconds == 0 ? Event.CLOCK_FORWARD : Event.CLOCK_BACK, Event.SERVER));
            try {
                server.stepClock(seconds);
                Thread.sleep(2 * FakeTime.CACHED_MILLIS);
                checkClock(seconds);
            } finally {
                calm();
            }
            pauses.pause(2000 + random.nextInt(5000));
        }
    }

    private void checkClock(long seconds) throws SQLException {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            String query = server.isPostgreSql() ? "select extract(epoch from now())" : "select unix_timestamp()";
            long ahead = number(statement, query) - Instant.now().getEpochSecond();
            if (Math.abs(ahead - seconds) > HOUR / 2) {
                throw new IllegalStateException("The clock of the server is %d s ahead".formatted(ahead));
            }
        }
    }

    private void makeReadOnly(Random random) throws Exception {
        oracle.tell(Event.fault("server-read-only", Event.SERVER));
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("set global super_read_only = on");
            try {
                pauses.pause(300 + random.nextInt(3000));
            } finally {
                statement.execute("set global super_read_only = off");
                statement.execute("set global read_only = off");
            }
        }
        calm();
    }

    /** Ends all sessions, and lets few come back. */
    private void allowFewConnections(Random random) throws Exception {
        oracle.tell(Event.fault("too-many-connections", Event.SERVER));
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            int most = number(statement, "select @@global.max_connections");
            statement.execute("set global max_connections = " + FEWEST_CONNECTIONS);
            try {
                endSessions(statement);
                pauses.pause(500 + random.nextInt(3000));
            } finally {
                statement.execute("set global max_connections = " + most);
            }
        }
        calm();
    }

    private static void endSessions(Statement statement) throws SQLException {
        List<Long> sessions = new ArrayList<>();
        try (ResultSet ids = statement.executeQuery(
                "select id from performance_schema.processlist" + " where db = database() and id <> connection_id()")) {
            while (ids.next()) {
                sessions.add(ids.getLong(1));
            }
        }
        for (long session : sessions) {
            try {
                statement.execute("kill " + session);
            } catch (SQLException e) {
                if (e.getErrorCode() != NO_SUCH_SESSION) {
                    throw e;
                }
            }
        }
    }

    private static int number(Statement statement, String query) throws SQLException {
        try (ResultSet number = statement.executeQuery(query)) {
            number.next();
            return number.getInt(1);
        }
    }

    private void calm() {
        oracle.tell(Event.of(Kind.CALM, Event.SERVER, "", ""));
    }
}
