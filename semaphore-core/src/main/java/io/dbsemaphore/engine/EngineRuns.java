package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreClosedException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The {@linkplain EngineRun runs} of an engine, one after the other, on one database. The first begins when the engine is
 * made. Between a stop and the next start the last run stays, so that what was acquired without a time to live can be
 * released, and operators can work; it grants nothing.
 */
final class EngineRuns {

    private static final String STOPPED = """
            The semaphores of this application instance are stopped, as when its application context is paused, and \
            acquire no permits until they are started again; nothing was acquired""";

    private final EngineRun.Configuration configuration;
    private final Supplier<EngineDatabase> opening;
    private final HeldGrants held = new HeldGrants();
    private final CheckedGrants checked = new CheckedGrants();
    private @Nullable EngineDatabase database;
    private volatile @Nullable EngineRun run;
    private volatile State state = State.RUNNING;

    private enum State {
        RUNNING,
        STOPPED,
        CLOSED
    }

    EngineRuns(EngineRun.Configuration configuration, Supplier<EngineDatabase> opening) {
        this.configuration = configuration;
        this.opening = opening;
    }

    /** Opens the database, and begins the first run. */
    synchronized void open() {
        database = opening.get();
        run = newRun(database);
    }

    /**
     * Begins a run where the last one has been stopped, and its maintenance.
     *
     * @throws IllegalStateException when closed
     */
    synchronized void start() {
        if (state == State.CLOSED) {
            throw new IllegalStateException("The engine is closed and cannot be started again: make another one");
        }
        if (state == State.STOPPED) {
            database().resume();
            run = newRun(database());
            state = State.RUNNING;
        }
        current().startMaintenance();
    }

    /** Ends the run, and gives back all connections, until the next start. */
    synchronized void stop() {
        if (state == State.RUNNING) {
            end(State.STOPPED);
        }
    }

    /** Ends the run, and gives up the database. */
    synchronized void close() {
        if (state == State.RUNNING) {
            end(State.CLOSED);
        }
        state = State.CLOSED;
        database().close();
    }

    /**
     * The run that grants.
     *
     * @throws SemaphoreClosedException when there is none
     */
    EngineRun granting() {
        if (state == State.STOPPED) {
            throw new SemaphoreClosedException(STOPPED);
        }
        return current(); // which says itself that it is shutting down
    }

    /** The run of the moment; where none is under way, the last one. */
    EngineRun current() {
        EngineRun current = run;
        if (current == null) {
            throw new IllegalStateException("The engine is not open");
        }
        return current;
    }

    /** See {@link SemaphoreEngine#check}. */
    void check() {
        database().check();
    }

    private void end(State next) {
        state = next; // first, so that whoever comes is told what is going on
        current().end();
        database().suspend();
    }

    private EngineRun newRun(EngineDatabase opened) {
        return new EngineRun(
                configuration, opened, held, checked, () -> current().permitManager());
    }

    private EngineDatabase database() {
        if (database == null) {
            throw new IllegalStateException("The engine is not open");
        }
        return database;
    }
}
