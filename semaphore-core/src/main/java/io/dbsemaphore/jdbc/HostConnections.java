package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.sql.DataSource;

/**
 * Takes connections from the host's pool. An interrupt makes pools fail at once although they have a connection: the
 * interrupt is deferred, and the pool asked again.
 */
final class HostConnections {

    /** How long the library waits for a connection: its own, or after an interrupt the host's. */
    static final Duration CONNECTION_TIMEOUT = Duration.ofSeconds(30);

    private final DataSource host;
    private final AtomicInteger waiting = new AtomicInteger();
    private volatile long lastChange;

    HostConnections(DataSource host) {
        this.host = host;
    }

    /** Returns a connection. How long the pool waits for one depends on its own configuration. */
    Connection take() throws SQLException {
        if (waiting.get() == 0) {
            lastChange = System.nanoTime();
        }
        waiting.incrementAndGet();
        try {
            return takeUninterruptibly();
        } finally {
            lastChange = System.nanoTime();
            waiting.decrementAndGet();
        }
    }

    /** Whether threads have waited for a connection for this long, and none of them has got one. */
    boolean isExhaustedFor(Duration time) {
        return waiting.get() > 0 && System.nanoTime() - lastChange > time.toNanos();
    }

    private Connection takeUninterruptibly() throws SQLException {
        boolean interrupted = Thread.interrupted();
        long until = System.nanoTime() + CONNECTION_TIMEOUT.toNanos();
        try {
            while (true) {
                try {
                    return host.getConnection();
                } catch (SQLException failure) {
                    boolean interrupt = Thread.interrupted() || isInterrupt(failure);
                    interrupted |= interrupt;
                    if (!interrupt || System.nanoTime() - until > 0) {
                        throw failure;
                    }
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static boolean isInterrupt(Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
                .limit(SqlErrors.MAX_DEPTH)
                .anyMatch(InterruptedException.class::isInstance);
    }
}
