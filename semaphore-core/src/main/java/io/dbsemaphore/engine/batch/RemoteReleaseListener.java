package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.concurrent.UnexpectedErrors;
import io.dbsemaphore.concurrent.Uninterruptibles;
import io.dbsemaphore.jdbc.ReleaseChannel;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens for releases by other instances while callers of this one wait. Its thread runs from the start to the end of the engine. While it
 * listens, it uses one more connection of the application's pool. If it fails, the poller goes on.
 */
final class RemoteReleaseListener implements Runnable, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(RemoteReleaseListener.class);

    /** How long to wait for a notification before checking whether callers still wait and whether the engine is stopping. */
    private static final Duration CHECK_INTERVAL = Duration.ofMillis(250);

    /** How long the connection is kept after the last caller has left, so that not every wait takes a new one. */
    private static final Duration LINGER = Duration.ofSeconds(2);

    /** The connection is replaced after this time, because it may be broken unnoticed, or older than the pool allows. */
    private static final Duration MAX_AGE = Duration.ofMinutes(1);

    private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(2);

    /** If a transaction waits for a connection for longer than this, the listening connection is returned to the pool. */
    private static final Duration MAX_STARVATION = Duration.ofMillis(500);

    private static final Duration PAUSE_AFTER_STARVATION = Duration.ofMinutes(1);
    private static final Duration MAX_WAIT_TO_END = Duration.ofSeconds(1);
    private static final long UNTIL_BEGUN = Duration.ofHours(1).toNanos();

    private final ReleaseChannel channel;
    private final BooleanSupplier needed;
    private final Consumer<Set<String>> released;
    private final Semaphore begun = new Semaphore(0);
    private final CountDownLatch closing = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean closed;
    private boolean starvationLogged;
    private Deadline lingering = Deadline.in(Duration.ZERO);

    /**
     * Creates a listener.
     *
     * @param needed whether callers wait
     * @param released receives the names of semaphores of which another instance has released permits
     */
    RemoteReleaseListener(ReleaseChannel channel, BooleanSupplier needed, Consumer<Set<String>> released) {
        this.channel = channel;
        this.needed = needed;
        this.released = released;
    }

    /** Begins to listen, because a caller waits. */
    void begin() {
        if (begun.availablePermits() == 0) {
            begun.release();
        }
    }

    /** Waits, for a bounded time, until the connection is returned. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            begun.release();
            closing.countDown();
            boolean unused = Uninterruptibles.await(ended, MAX_WAIT_TO_END.toNanos());
        }
    }

    @Override
    public void run() {
        while (!closed) {
            try {
                begun.drainPermits(); // before the check for callers
                if (isNeeded()) {
                    listen();
                } else {
                    boolean unused = Uninterruptibles.acquire(begun, UNTIL_BEGUN);
                }
            } catch (Throwable failure) {
                UnexpectedErrors.survive(log, "The listener for releases", failure);
            }
        }
        ended.countDown();
    }

    private void listen() {
        try {
            listenWhileConnectionsAreLeft();
        } catch (SQLFeatureNotSupportedException unsupported) {
            closed = true;
            log.warn(
                    "semaphore.jdbc.notifications=true has no effect: the DataSource lends no connections of PostgreSQL's"
                            + " driver. Polling finds the permits that other instances release",
                    unsupported);
        } catch (SQLException | RuntimeException failure) {
            log.debug("Releases of other instances cannot be listened for; they are found by polling", failure);
            pause(PAUSE_AFTER_FAILURE);
        }
    }

    private void listenWhileConnectionsAreLeft() throws SQLException {
        Deadline replaced = Deadline.in(MAX_AGE);
        boolean exhausted = false;
        try (ReleaseChannel.Subscription subscription = channel.subscribe()) {
            while (isNeeded() && !replaced.isPassed() && !exhausted) {
                Set<String> names = subscription.await(CHECK_INTERVAL);
                if (!names.isEmpty()) {
                    released.accept(names);
                }
                exhausted = channel.isPoolExhaustedFor(MAX_STARVATION);
            }
        }
        if (exhausted) {
            logStarvation();
            pause(PAUSE_AFTER_STARVATION);
        }
    }

    private void logStarvation() {
        if (!starvationLogged) {
            starvationLogged = true;
            log.warn(
                    "semaphore.jdbc.notifications pauses for {} s, now and whenever this happens again: for {} ms the"
                            + " pool had no connection for the semaphores besides the one that listens. Meanwhile polling"
                            + " finds the permits that other instances release. Enlarge the pool",
                    PAUSE_AFTER_STARVATION.toSeconds(),
                    MAX_STARVATION.toMillis());
        }
    }

    private void pause(Duration time) {
        boolean unused = Uninterruptibles.await(closing, time.toNanos());
    }

    private boolean isNeeded() {
        if (needed.getAsBoolean()) {
            lingering = Deadline.in(LINGER);
        }
        return !closed && !lingering.isPassed();
    }
}
