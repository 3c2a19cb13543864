package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.concurrent.Uninterruptibles;
import io.dbsemaphore.engine.hold.CheckedGrants;
import io.dbsemaphore.engine.hold.GrantRegistry;
import io.dbsemaphore.engine.support.CallerExceptions;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The {@linkplain EngineRun runs} of an engine, one after the other, on one database. The first run begins when the engine is
 * made, or later on a thread of its own. Between a stop and the next start the last run is kept, so that grants without a time to
 * live can be released, and administrators can work; it grants nothing.
 */
final class EngineRuns {

    private static final Logger log = LoggerFactory.getLogger(EngineRuns.class);

    private static final String STOPPED = """
            The semaphores of this application instance are stopped, as when its application context is paused, and \
            acquire no permits until they are started again; nothing was acquired""";

    private final EngineRun.Configuration configuration;
    private final Supplier<EngineDatabase> opening;
    private final Consumer<SemaphoreAdmin> onceOpen;
    private final GrantRegistry held = new GrantRegistry();
    private final CheckedGrants checked = new CheckedGrants();
    private final DatabasePermitManager permitManager = new DatabasePermitManager(this::granting, this::current);
    private final SemaphoreAdmin admin;
    private final FutureTask<EngineRun> first = new FutureTask<>(this::openFirst);
    private volatile @Nullable EngineDatabase database;
    private volatile @Nullable EngineRun run;
    private volatile State state = State.RUNNING;

    private enum State {
        RUNNING,
        STOPPED,
        CLOSED
    }

    /**
     * Creates the runs of an engine.
     *
     * @param onceOpen runs as soon as the database is open, before anything else
     */
    EngineRuns(
            EngineRun.Configuration configuration,
            Supplier<EngineDatabase> opening,
            Consumer<SemaphoreAdmin> onceOpen) {
        this.configuration = configuration;
        this.opening = opening;
        this.onceOpen = onceOpen;
        this.admin = adminOf(this::current);
    }

    /** Opens the database, and begins the first run. */
    void open() {
        first.run();
        EngineDatabase opened = database();
        load(() -> opened);
    }

    /** See {@link SemaphoreEngine#warmUp}. */
    void warmUp() {
        startThread("semaphore-warm-up", () -> load(this::database));
    }

    /** Loads what the first acquire needs. If that fails, the engine starts nevertheless, and the first acquire loads it. */
    private static void load(Supplier<EngineDatabase> database) {
        try {
            database.get().warmUp();
        } catch (RuntimeException | Error notNow) {
            log.debug("The first acquire will take longer", notNow);
        }
    }

    /** As {@link #open}, on a separate thread. Every use of the engine waits for it, and throws its failure. */
    void openInBackground() {
        startThread("semaphore-start", first);
    }

    private void startThread(String name, Runnable task) {
        Thread thread = configuration.threads().create(name, task);
        // Hibernate loads classes of the application, as if the application started it
        thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
        thread.start();
    }

    private EngineRun openFirst() {
        EngineDatabase opened = opening.get();
        try {
            EngineRun started = newRun(opened);
            onceOpen(started);
            database = opened;
            run = started;
            return started;
        } catch (RuntimeException | Error failure) {
            opened.close();
            throw failure;
        }
    }

    /** The run is not the current one yet, so that nothing else would end it. */
    private void onceOpen(EngineRun started) {
        try {
            onceOpen.accept(adminOf(() -> started));
        } catch (RuntimeException | Error failure) {
            started.end();
            throw failure;
        }
    }

    /** Ignores interrupts, since the start is bounded by the timeouts of the database. */
    private EngineRun awaitFirst() {
        try {
            return Uninterruptibles.get(first);
        } catch (ExecutionException failure) {
            throw CallerExceptions.of(failure.getCause());
        }
    }

    /** Whether the start succeeded. Waits for a start in progress. */
    private boolean isOpen() {
        try {
            EngineRun unused = awaitFirst();
            return true;
        } catch (RuntimeException failedToStart) {
            return false;
        }
    }

    /**
     * Begins a run if the last one was stopped, and starts its maintenance.
     *
     * @throws IllegalStateException when closed
     */
    synchronized void start() {
        if (state == State.CLOSED) {
            throw new IllegalStateException("The engine is closed and cannot be started again: create another one");
        }
        if (state == State.STOPPED) {
            database().resume();
            run = newRun(database());
            state = State.RUNNING;
        }
        current().startMaintenance();
        configuration.listeners().tellEarly();
    }

    /** Ends the run, and returns all connections to the pool. */
    synchronized void stop() {
        if (state == State.RUNNING && isOpen()) {
            end(State.STOPPED);
        }
    }

    /** Ends the run, and closes the persistence unit. */
    synchronized void close() {
        if (isOpen()) {
            if (state == State.RUNNING) {
                end(State.CLOSED);
            }
            state = State.CLOSED;
            database().close();
        }
        state = State.CLOSED;
    }

    /**
     * The run that grants acquires.
     *
     * @throws SemaphoreClosedException when the engine is stopped
     */
    EngineRun granting() {
        if (state == State.STOPPED) {
            throw new SemaphoreClosedException(STOPPED);
        }
        return current(); // which throws that exception while it is shutting down
    }

    /** The current run; while the engine is stopped, the last one. */
    EngineRun current() {
        EngineRun current = run;
        return current != null ? current : awaitFirst();
    }

    DatabasePermitManager permitManager() {
        return permitManager;
    }

    SemaphoreAdmin admin() {
        return admin;
    }

    private SemaphoreAdmin adminOf(Supplier<EngineRun> current) {
        return new DatabaseSemaphoreAdmin(current, configuration.listeners());
    }

    /** See {@link SemaphoreEngine#check}. */
    void check() {
        database().check();
    }

    private void end(State next) {
        state = next; // first, so that further calls throw the right exception
        current().end();
        database().suspend();
    }

    private EngineRun newRun(EngineDatabase opened) {
        return new EngineRun(configuration, opened, held, checked, permitManager, admin, permitManager, permitManager);
    }

    private EngineDatabase database() {
        EngineRun unused = current();
        return Objects.requireNonNull(database);
    }
}
