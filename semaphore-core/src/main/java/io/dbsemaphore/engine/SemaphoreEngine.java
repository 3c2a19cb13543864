package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreMaintenance;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.Uninterruptibles;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.hold.GrantRegistry;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.spi.CapacityProvider;
import io.dbsemaphore.spi.OwnerLiveness;
import io.dbsemaphore.spi.PermitManager;
import io.dbsemaphore.spi.SemaphoreListener;
import io.dbsemaphore.spi.ShareWeights;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The semaphores of one database, as used by one JVM. An application without the starter creates one engine for each
 * {@code DataSource}, and closes it before the connection pool.
 *
 * <pre>{@code
 * try (SemaphoreEngine engine = new SemaphoreEngine(dataSource, SemaphoreSettings.defaults())) {
 *     SemaphoreTemplate semaphores = new SemaphoreTemplate(engine.permitManager());
 *     …
 * }
 * }</pre>
 *
 * <p>An engine can be {@linkplain #shutDown stopped} and {@linkplain #start started} again; only {@link #close} is final. Thread-safe.
 */
public final class SemaphoreEngine implements AutoCloseable {

    private static final String STOPPED = """
            The semaphores of this application instance are stopped, for example because its application context is \
            paused. Nothing was acquired. Try again when they are started, or on another instance""";

    private final Run.Configuration configuration;
    private final GrantRegistry held = new GrantRegistry();
    private final DatabasePermitManager permitManager = new DatabasePermitManager(this::granting, this::current);
    private final SemaphoreAdmin admin;
    private final SemaphoreMaintenance maintenance = new CurrentMaintenance();
    private final FutureTask<Run> first;
    /**
     * The current run. After a stop it stays until the next start, for administrators and to release grants without a time to live, but
     * grants nothing. Null until the first run has begun.
     */
    private volatile @Nullable Run run;

    private final Object lifecycle = new Object();
    private volatile State state = State.RUNNING;

    private enum State {
        RUNNING,
        STOPPED,
        CLOSING,
        CLOSED
    }

    /**
     * Creates an engine without listeners, owner liveness, capacity providers and weights of shares beside those of the settings.
     *
     * @param dataSource the data source that the host's own transactions use
     * @param settings the settings
     * @throws IllegalArgumentException if the settings contradict each other
     * @throws SemaphoreTablesMissingException if the tables do not exist
     * @throws SemaphoreTableMismatchException if a table belongs to another application or an older version
     * @throws DatabaseNotWritableException if the database rejects writes
     * @throws DatabaseUnreachableException if the database cannot be reached, does not exist, or rejects the user
     * @throws UnsupportedDatabaseException if the database is not supported
     * @throws org.springframework.dao.DataAccessException if the database fails otherwise
     */
    public SemaphoreEngine(DataSource dataSource, SemaphoreSettings settings) {
        this(dataSource, settings, List::of, List::of);
    }

    /**
     * Creates an engine without capacity providers, and without weights of shares beside those of the settings. The tables must exist.
     *
     * @param dataSource the data source that the host's own transactions use
     * @param settings the settings
     * @param semaphoreListeners supplies the listeners, see the constructor with all parameters
     * @param ownerLiveness supplies the liveness checks, for each release of orphans
     * @throws RuntimeException in the cases that the constructor with all parameters lists
     */
    public SemaphoreEngine(
            DataSource dataSource,
            SemaphoreSettings settings,
            Supplier<@Nullable List<SemaphoreListener>> semaphoreListeners,
            Supplier<List<OwnerLiveness>> ownerLiveness) {
        this(dataSource, settings, semaphoreListeners, ownerLiveness, List::of);
    }

    /**
     * Creates an engine without weights of shares beside those of the settings. The tables must exist.
     *
     * @param dataSource the data source that the host's own transactions use
     * @param settings the settings
     * @param semaphoreListeners supplies the listeners, see the constructor with all parameters
     * @param ownerLiveness supplies the liveness checks, for each release of orphans
     * @param capacityProviders supplies the providers of capacities, see the constructor with all parameters
     * @throws RuntimeException in the cases that the constructor with all parameters lists
     */
    public SemaphoreEngine(
            DataSource dataSource,
            SemaphoreSettings settings,
            Supplier<@Nullable List<SemaphoreListener>> semaphoreListeners,
            Supplier<List<OwnerLiveness>> ownerLiveness,
            Supplier<@Nullable List<CapacityProvider>> capacityProviders) {
        this(dataSource, settings, semaphoreListeners, ownerLiveness, capacityProviders, () -> null);
    }

    /**
     * Creates an engine. The tables must exist.
     *
     * @param dataSource the data source that the host's own transactions use
     * @param settings the settings
     * @param semaphoreListeners supplies the listeners, anew for each event, so that they may be created after the engine. Threads of the
     *     library call it, so it must not wait. While it returns null, the first 1,000 events are kept for later
     * @param ownerLiveness supplies the liveness checks, for each release of orphans
     * @param capacityProviders supplies the providers of capacities, for each semaphore that a pattern creates, and for each release of
     *     orphans. Threads of the library call it, so it must not wait. While it returns null, patterns create no semaphores, and
     *     acquires that need one throw a {@link io.dbsemaphore.admin.CapacityUnknownException}
     * @param shareWeights supplies the weights of shares, anew for each question. Threads of callers and of the library call it, so it must
     *     not wait. Null if there are none, or while they are not known: shares without a weight in the settings then have the weight 1
     * @throws IllegalArgumentException if the settings contradict each other
     * @throws SemaphoreTablesMissingException if the tables do not exist
     * @throws SemaphoreTableMismatchException if a table belongs to another application or an older version
     * @throws DatabaseNotWritableException if the database rejects writes
     * @throws DatabaseUnreachableException if the database cannot be reached, does not exist, or rejects the user
     * @throws UnsupportedDatabaseException if the database is not supported
     * @throws org.springframework.dao.DataAccessException if the database fails otherwise
     */
    public SemaphoreEngine(
            DataSource dataSource,
            SemaphoreSettings settings,
            Supplier<@Nullable List<SemaphoreListener>> semaphoreListeners,
            Supplier<List<OwnerLiveness>> ownerLiveness,
            Supplier<@Nullable List<CapacityProvider>> capacityProviders,
            Supplier<@Nullable ShareWeights> shareWeights) {
        this(
                dataSource,
                new Run.Configuration(
                        settings,
                        new ListenerNotifier(semaphoreListeners),
                        ownerLiveness,
                        capacityProviders,
                        shareWeights),
                script -> {},
                Duration.ZERO,
                admin -> {});
        awaitFirst();
    }

    private SemaphoreEngine(
            DataSource dataSource,
            Run.Configuration configuration,
            Consumer<SchemaScript> tableCreation,
            Duration schemaWait,
            Consumer<SemaphoreAdmin> onceOpen) {
        this.configuration = configuration;
        admin = adminOf(this::open);
        SemaphoreSettings settings = configuration.settings();
        DatabaseThreads databaseThreads =
                new DatabaseThreads(settings.get(SemaphoreSettings.MAX_CONNECTIONS), new DaemonThreads());
        first = new FutureTask<>(() -> openFirst(
                EngineDatabase.open(dataSource, settings, tableCreation, schemaWait, databaseThreads), onceOpen));
        databaseThreads.execute(first);
    }

    /**
     * Creates an engine that starts on a thread of the library ({@code semaphore-database-1}), while the application continues
     * to start. Every use of the engine, including {@link #start}, waits for the start. If the start fails, each use throws the exception
     * that the {@linkplain #SemaphoreEngine constructor} would have thrown.
     *
     * @param dataSource the data source that the host's own transactions use
     * @param settings the settings
     * @param semaphoreListeners supplies the listeners, see the {@linkplain #SemaphoreEngine constructor}
     * @param ownerLiveness supplies the liveness checks, for each release of orphans
     * @param capacityProviders supplies the providers of capacities, see the {@linkplain #SemaphoreEngine constructor}
     * @param shareWeights supplies the weights of shares, see the {@linkplain #SemaphoreEngine constructor}
     * @param tableCreation called on that thread when the database can be reached, before the tables are used; may create them with the
     *     given script
     * @param schemaWait how long to wait for something else to create missing tables or columns
     * @param onceOpen called on that thread as soon as the tables exist; if it fails, the start fails
     * @return the engine
     * @throws IllegalArgumentException if the settings contradict each other
     */
    public static SemaphoreEngine inBackground(
            DataSource dataSource,
            SemaphoreSettings settings,
            Supplier<@Nullable List<SemaphoreListener>> semaphoreListeners,
            Supplier<List<OwnerLiveness>> ownerLiveness,
            Supplier<@Nullable List<CapacityProvider>> capacityProviders,
            Supplier<@Nullable ShareWeights> shareWeights,
            Consumer<SchemaScript> tableCreation,
            Duration schemaWait,
            Consumer<SemaphoreAdmin> onceOpen) {
        return new SemaphoreEngine(
                dataSource,
                new Run.Configuration(
                        settings,
                        new ListenerNotifier(semaphoreListeners),
                        ownerLiveness,
                        capacityProviders,
                        shareWeights),
                tableCreation,
                schemaWait,
                onceOpen);
    }

    /**
     * Starts the scheduled maintenance; an engine that is not started runs no tasks of its own. If the engine was {@linkplain #shutDown
     * stopped}, it is started again, as a new instance in the database.
     *
     * @throws IllegalStateException if the engine is closed
     * @throws RuntimeException if its start in the background has failed
     */
    public void start() {
        synchronized (lifecycle) {
            if (state == State.CLOSED) {
                throw new IllegalStateException("The engine is closed and cannot be started again: create another one");
            }
            if (state == State.STOPPED) {
                startAgain();
            }
            current().startMaintenance();
        }
        configuration.listeners().tellEarly();
    }

    /** {@return the maintenance tasks} */
    public SemaphoreMaintenance maintenance() {
        return maintenance;
    }

    /** {@return the manager for creating a {@link io.dbsemaphore.SemaphoreTemplate}} */
    public PermitManager permitManager() {
        return permitManager;
    }

    /** {@return the operations for administrators, which throw an {@link IllegalStateException} once the engine is closed} */
    public SemaphoreAdmin admin() {
        return admin;
    }

    /**
     * {@return the threads on which the library calls code of the application that may block: as many as are needed} After the engine was
     * stopped, a task runs on the thread that submits it.
     */
    public Executor applicationThreads() {
        return task -> current().applicationThreads.execute(task);
    }

    /**
     * Runs a task on the {@linkplain #applicationThreads() threads for code of the application}, at once and then at this interval, until it
     * is cancelled or the engine is stopped. Skips a run if the last one has not ended. Does not wait for the start of the engine.
     *
     * @param interval the time from one run to the next
     * @param task code that may block; an exception is logged, and the next run begins on time
     * @return a handle, whose {@code cancel} ends the runs
     * @throws RejectedExecutionException if the engine has not started yet, or is stopped
     */
    public ScheduledFuture<?> every(Duration interval, Runnable task) {
        Run current = run;
        if (current == null) {
            throw new RejectedExecutionException("The engine has not started yet");
        }
        return current.every(Duration.ZERO, interval, current.applicationThreads, task);
    }

    /**
     * Stops the engine until it is {@linkplain #start started} again. Acquires throw {@link io.dbsemaphore.SemaphoreClosedException}. Work
     * that holds permits has {@code semaphore.shutdown-timeout} (20 seconds) to end. Then grants with a time to live that are still held
     * are released, unless {@link io.dbsemaphore.AcquireRequest#withReleaseAtShutdown} is false, and all connections are returned. If the
     * database does not answer, this takes up to 35 seconds more. Call it before the pool is suspended.
     */
    public void shutDown() {
        synchronized (lifecycle) {
            if (state == State.RUNNING && isOpen()) {
                end(State.STOPPED);
            }
        }
    }

    /**
     * {@linkplain #shutDown Stops} the engine permanently, and closes its persistence unit. Call it before the pool is
     * closed.
     */
    @Override
    public void close() {
        synchronized (lifecycle) {
            if (isOpen()) {
                if (state == State.RUNNING) {
                    end(State.CLOSING);
                }
                current().database.close();
            }
            state = State.CLOSED;
        }
    }

    /**
     * Reads from each table, and tries a write that changes no row, in a transaction of its own.
     *
     * @throws SemaphoreTablesMissingException if the tables do not exist
     * @throws SemaphoreTableMismatchException if a table belongs to another application or an older version
     * @throws DatabaseNotWritableException if the database rejects writes
     * @throws org.springframework.dao.DataAccessException if the database cannot be reached
     */
    public void check() {
        current().database.check();
    }

    /**
     * Finds a task of the scheduled maintenance that this engine has not completed for three of its intervals, and for at least a
     * minute, since the last {@linkplain #start start}. Does not use the database.
     *
     * @return the overdue task, and what to do about it; empty if every task is on time, or none is scheduled
     */
    public Optional<String> overdueMaintenance() {
        return current().maintenance.overdue(System.nanoTime());
    }

    /**
     * Counts the semaphores that patterns have created, which {@code semaphore.max-pattern-semaphores} limits. May read the database.
     *
     * @return their number, counted within the last minute; 0 if this engine has no patterns
     * @throws RuntimeException if the database cannot be read
     */
    public long patternSemaphores() {
        return current().patterns.count();
    }

    private Run openFirst(EngineDatabase database, Consumer<SemaphoreAdmin> onceOpen) {
        try {
            return begin(database, onceOpen);
        } finally {
            if (run == null) {
                database.close();
            }
        }
    }

    /** Begins a run. If that fails, nothing of the run remains. */
    private Run begin(EngineDatabase database, Consumer<SemaphoreAdmin> onceStarted) {
        Run begun = new Run(configuration, database, held, permitManager, admin, permitManager);
        boolean succeeded = false;
        try {
            begun.start();
            onceStarted.accept(adminOf(() -> begun));
            run = begun;
            succeeded = true;
            return begun;
        } finally {
            if (!succeeded) {
                begun.end();
                database.suspend();
            }
        }
    }

    /** Waits for the first run. Ignores interrupts, because timeouts of the database limit the start. */
    private Run awaitFirst() {
        try {
            return Uninterruptibles.get(first);
        } catch (ExecutionException failure) {
            throw CallerExceptions.of(failure.getCause());
        }
    }

    /** Whether the start succeeded. Waits for a start in progress. */
    private boolean isOpen() {
        try {
            awaitFirst();
            return true;
        } catch (RuntimeException failedToStart) {
            return false;
        }
    }

    /**
     * The run that grants acquires.
     *
     * @throws SemaphoreClosedException if the engine is stopped
     */
    private Run granting() {
        if (state == State.STOPPED) {
            throw new SemaphoreClosedException(STOPPED);
        }
        return current(); // during a shutdown, the run throws that exception
    }

    /** The current run; while the engine is stopped, the last one. */
    Run current() {
        Run current = run;
        return current != null ? current : awaitFirst();
    }

    /** The current run; throws once the engine is closed. */
    private Run open() {
        if (state == State.CLOSED) {
            throw new IllegalStateException("The engine is closed: its semaphores can no longer be read or changed");
        }
        return current();
    }

    private SemaphoreAdmin adminOf(Supplier<Run> current) {
        return new DatabaseSemaphoreAdmin(current, configuration.listeners());
    }

    private void startAgain() {
        EngineDatabase database = current().database;
        database.resume();
        begin(database, admin -> {});
        state = State.RUNNING;
    }

    private void end(State next) {
        state = next; // first, so that concurrent calls throw the right exception
        current().end();
        current().database.suspend();
    }

    /** The maintenance of the current run. */
    private final class CurrentMaintenance implements SemaphoreMaintenance {

        @Override
        public int releaseOrphans() {
            return granting().maintenance.releaseOrphans();
        }

        @Override
        public int deleteReleasedRequests() {
            return granting().maintenance.deleteReleasedRequests();
        }

        @Override
        public int deleteCapacityHistory() {
            return granting().maintenance.deleteCapacityHistory();
        }
    }
}
