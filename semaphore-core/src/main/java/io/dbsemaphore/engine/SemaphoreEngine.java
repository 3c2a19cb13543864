package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreMaintenance;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.Uninterruptibles;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.hold.GrantRegistry;
import io.dbsemaphore.engine.support.CallerExceptions;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.spi.CapacityProvider;
import io.dbsemaphore.spi.OwnerLiveness;
import io.dbsemaphore.spi.PermitManager;
import io.dbsemaphore.spi.SemaphoreListener;
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
 * <p>An engine can be {@linkplain #shutDown stopped} and {@linkplain #start started} again any number of times; only
 * {@link #close} is final. Thread-safe.
 */
public final class SemaphoreEngine implements AutoCloseable {

    private static final String STOPPED = """
            The semaphores of this application instance are stopped, as when its application context is paused, and \
            acquire no permits until they are started again; nothing was acquired""";

    private final RunContext.Configuration configuration;
    private final GrantRegistry held = new GrantRegistry();
    private final DatabasePermitManager permitManager = new DatabasePermitManager(this::granting, this::current);
    private final SemaphoreAdmin admin;
    private final SemaphoreMaintenance maintenance = new CurrentMaintenance();
    private final FutureTask<Run> first;
    /**
     * The current run. After a stop it stays until the next start, so that grants without a time to live can be released, and
     * administrators can work; it grants nothing then. Null until the first run has begun.
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
     * Creates an engine without listeners, owner liveness and capacity providers.
     *
     * @param dataSource the host's own data source, which its transactions use
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
     * Creates an engine without capacity providers. The tables must exist.
     *
     * @param dataSource the host's own data source, which its transactions use
     * @param settings the settings
     * @param semaphoreListeners supplies the listeners, see the constructor with all parameters
     * @param ownerLiveness supplies the liveness checks, for each release of orphans
     * @throws RuntimeException as the constructor with all parameters
     */
    public SemaphoreEngine(
            DataSource dataSource,
            SemaphoreSettings settings,
            Supplier<@Nullable List<SemaphoreListener>> semaphoreListeners,
            Supplier<List<OwnerLiveness>> ownerLiveness) {
        this(dataSource, settings, semaphoreListeners, ownerLiveness, List::of);
    }

    /**
     * Creates an engine. The tables must exist.
     *
     * @param dataSource the host's own data source, which its transactions use
     * @param settings the settings
     * @param semaphoreListeners supplies the listeners, for each event, so that they may be created after the engine. Called by threads
     *     of the library, too, so it must not wait. It supplies null while the listeners are not known yet: the first 1,000 events are
     *     kept until then
     * @param ownerLiveness supplies the liveness checks, for each release of orphans
     * @param capacityProviders supplies the providers of capacities, for each semaphore that a pattern creates, and for each release of
     *     orphans. Called by threads of the library, too, so it must not wait. It supplies null while the providers are not known yet:
     *     until then patterns create no semaphores, and acquires that need one throw a
     *     {@link io.dbsemaphore.admin.CapacityUnknownException}
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
            Supplier<@Nullable List<CapacityProvider>> capacityProviders) {
        this(
                dataSource,
                new RunContext.Configuration(
                        settings, new ListenerNotifier(semaphoreListeners), ownerLiveness, capacityProviders),
                script -> {},
                Duration.ZERO,
                admin -> {});
        Run unused = awaitFirst();
    }

    private SemaphoreEngine(
            DataSource dataSource,
            RunContext.Configuration configuration,
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
     * Creates an engine that starts on a thread of the library ({@code semaphore-database-1}), so that the application can
     * continue to start meanwhile. Every use of the engine waits for its start, {@link #start} too. If the start fails,
     * each use throws the exception that the {@linkplain #SemaphoreEngine constructor} would have thrown.
     *
     * @param dataSource the host's own data source, which its transactions use
     * @param settings the settings
     * @param semaphoreListeners supplies the listeners, see the {@linkplain #SemaphoreEngine constructor}
     * @param ownerLiveness supplies the liveness checks, for each release of orphans
     * @param capacityProviders supplies the providers of capacities, see the {@linkplain #SemaphoreEngine constructor}
     * @param tableCreation called on that thread once the database can be reached, and before the tables are used; may create them with
     *     the given script
     * @param schemaWait how long to wait for tables that are missing or lack columns because something else creates them
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
            Consumer<SchemaScript> tableCreation,
            Duration schemaWait,
            Consumer<SemaphoreAdmin> onceOpen) {
        return new SemaphoreEngine(
                dataSource,
                new RunContext.Configuration(
                        settings, new ListenerNotifier(semaphoreListeners), ownerLiveness, capacityProviders),
                tableCreation,
                schemaWait,
                onceOpen);
    }

    /**
     * Starts the scheduled maintenance; without it an engine runs no tasks of its own. If the engine was
     * {@linkplain #shutDown stopped}, it is started again, as a new instance in the database.
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

    /** {@return the manager that a {@link io.dbsemaphore.SemaphoreTemplate} is created with} */
    public PermitManager permitManager() {
        return permitManager;
    }

    /** {@return the operations for administrators, which throw an {@link IllegalStateException} once the engine is closed} */
    public SemaphoreAdmin admin() {
        return admin;
    }

    /**
     * {@return threads for code that may block, as many as are needed at a time: those on which the library calls code of the
     * application} After the engine was stopped, a task runs on the thread that submits it.
     */
    public Executor applicationThreads() {
        return task -> current().applicationThreads.execute(task);
    }

    /**
     * Runs a task on the {@linkplain #applicationThreads() threads for code of the application}, at once and then at this interval, unless
     * its last run is still under way, until it is cancelled or the engine is stopped. Does not wait for the start of the engine.
     *
     * @param interval from one run to the next
     * @param task code that may block; an exception is logged, and the next run begins on time
     * @return the runs to come, which its {@code cancel} ends
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
     * Stops the engine until it is {@linkplain #start started} again: acquires throw {@link io.dbsemaphore.SemaphoreClosedException};
     * work that holds permits has time to end; grants with a time to live that are still held are released, unless
     * {@link io.dbsemaphore.AcquireRequest#withReleaseAtShutdown} is false; all connections are returned. Blocks for up to
     * {@code semaphore.shutdown-timeout} (20 seconds), and for up to 35 seconds more if the database does not answer. Call it before the pool is suspended.
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
     * Reads from each table, and writes to no row, in a transaction of its own.
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
     * minute. The time begins with the {@linkplain #start start}, and anew with each further one. Reads nothing from the database.
     *
     * @return what is overdue, and what to do about it; empty if every task is in time, or none is scheduled
     */
    public Optional<String> overdueMaintenance() {
        return current().maintenance.overdue(System.nanoTime());
    }

    /**
     * Counts the semaphores of this database that patterns have created, which {@code semaphore.max-pattern-semaphores} limits. May read
     * the database.
     *
     * @return how many there were within the last minute; 0 if this engine has no patterns
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

    /** Begins a run. If that fails, nothing of it is left. */
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

    /** Ignores interrupts, since the start is bounded by the timeouts of the database. */
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
            Run unused = awaitFirst();
            return true;
        } catch (RuntimeException failedToStart) {
            return false;
        }
    }

    /**
     * The run that grants acquires.
     *
     * @throws SemaphoreClosedException when the engine is stopped
     */
    private Run granting() {
        if (state == State.STOPPED) {
            throw new SemaphoreClosedException(STOPPED);
        }
        return current(); // which throws that exception while it is shutting down
    }

    /** The current run; while the engine is stopped, the last one. */
    Run current() {
        Run current = run;
        return current != null ? current : awaitFirst();
    }

    /** The current run, while the host's pool may be used. */
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
        Run unused = begin(database, admin -> {});
        state = State.RUNNING;
    }

    private void end(State next) {
        state = next; // first, so that further calls throw the right exception
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
