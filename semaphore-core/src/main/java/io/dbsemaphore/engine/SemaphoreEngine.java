package io.dbsemaphore.engine;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreMaintenance;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.config.SemaphorePatterns;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.spi.OwnerLiveness;
import io.dbsemaphore.spi.PermitManager;
import io.dbsemaphore.spi.SemaphoreListener;
import java.time.Duration;
import java.util.List;
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

    private final EngineRuns runs;
    private final SemaphoreMaintenance maintenance;

    /**
     * Creates an engine without patterns, listeners and owner liveness.
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
        this(dataSource, settings, SemaphorePatterns.NONE, List::of, List::of);
    }

    /**
     * Creates an engine. The tables must exist.
     *
     * @param dataSource the host's own data source, which its transactions use
     * @param settings the settings
     * @param patterns the semaphores that are created on first use
     * @param semaphoreListeners supplies the listeners, for each event, so that they may be created after the engine. Called by
     *     threads of the library, too, so it must not wait. Null while they are not known: the first 1,000 events are kept until
     *     they are
     * @param ownerLiveness supplies the liveness checks, for each release of orphans
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
            SemaphorePatterns patterns,
            Supplier<@Nullable List<SemaphoreListener>> semaphoreListeners,
            Supplier<List<OwnerLiveness>> ownerLiveness) {
        this(dataSource, settings, patterns, semaphoreListeners, ownerLiveness, new DaemonThreads());
    }

    SemaphoreEngine(
            DataSource dataSource,
            SemaphoreSettings settings,
            SemaphorePatterns patterns,
            Supplier<@Nullable List<SemaphoreListener>> semaphoreListeners,
            Supplier<List<OwnerLiveness>> ownerLiveness,
            DaemonThreads threads) {
        this(new EngineRuns(
                new EngineRun.Configuration(
                        settings, patterns, new ListenerNotifier(semaphoreListeners), ownerLiveness, threads),
                () -> EngineDatabase.open(dataSource, settings, script -> {}, Duration.ZERO),
                admin -> {}));
        runs.open();
    }

    private SemaphoreEngine(EngineRuns runs) {
        this.runs = runs;
        maintenance = new DelegatingMaintenance(runs);
    }

    /**
     * Creates an engine that starts on a thread of its own ({@code semaphore-start}), so that the application can
     * continue to start meanwhile. Every use of the engine waits for its start, {@link #start} too. If the start fails,
     * each use throws the exception that the {@linkplain #SemaphoreEngine constructor} would have thrown.
     *
     * @param dataSource the host's own data source, which its transactions use
     * @param settings the settings
     * @param patterns the semaphores that are created on first use
     * @param semaphoreListeners supplies the listeners, see the {@linkplain #SemaphoreEngine constructor}
     * @param ownerLiveness supplies the liveness checks, for each release of orphans
     * @param tableCreation called on that thread once the database can be reached, and before the tables are used; may create
     *     them, by the script that it is passed
     * @param schemaWait how long to wait for tables that are missing or lack columns because something else creates them
     * @param onceOpen called on that thread as soon as the tables exist; if it fails, the start fails
     * @return the engine
     * @throws IllegalArgumentException if the settings contradict each other
     */
    public static SemaphoreEngine inBackground(
            DataSource dataSource,
            SemaphoreSettings settings,
            SemaphorePatterns patterns,
            Supplier<@Nullable List<SemaphoreListener>> semaphoreListeners,
            Supplier<List<OwnerLiveness>> ownerLiveness,
            Consumer<SchemaScript> tableCreation,
            Duration schemaWait,
            Consumer<SemaphoreAdmin> onceOpen) {
        EngineRuns runs = new EngineRuns(
                new EngineRun.Configuration(
                        settings,
                        patterns,
                        new ListenerNotifier(semaphoreListeners),
                        ownerLiveness,
                        new DaemonThreads()),
                () -> EngineDatabase.open(dataSource, settings, tableCreation, schemaWait),
                onceOpen);
        runs.openInBackground();
        return new SemaphoreEngine(runs);
    }

    /**
     * Starts the scheduled maintenance; without it an engine runs no tasks of its own. If the engine was
     * {@linkplain #shutDown stopped}, it is started again, as a new instance in the database.
     *
     * @throws IllegalStateException if the engine is closed
     * @throws RuntimeException if it was to start in the background and failed
     */
    public void start() {
        runs.start();
    }

    /**
     * Loads what the first acquire needs, on a thread of its own ({@code semaphore-warm-up}), and returns at once. Without it the
     * first acquire after a start {@linkplain #inBackground in the background} takes a second of CPU time longer. To be called when
     * the application has started. A failure has no consequence but that.
     */
    public void warmUp() {
        runs.warmUp();
    }

    /** {@return the maintenance tasks} */
    public SemaphoreMaintenance maintenance() {
        return maintenance;
    }

    /** {@return the manager that a {@link io.dbsemaphore.SemaphoreTemplate} is created with} */
    public PermitManager permitManager() {
        return runs.permitManager();
    }

    /** {@return the operations for administrators} */
    public SemaphoreAdmin admin() {
        return runs.admin();
    }

    /**
     * Stops the engine until it is {@linkplain #start started} again: acquires no longer succeed and throw
     * {@link io.dbsemaphore.SemaphoreClosedException}; work that holds permits has time to end; grants with a time to
     * live that are still held are released, unless {@link io.dbsemaphore.AcquireRequest#withReleaseAtShutdown} is false; all
     * connections are returned. Blocks for up to
     * {@code semaphore.shutdown-timeout} (20 seconds) and 20 seconds for the database. Call it before the pool is
     * suspended.
     */
    public void shutDown() {
        runs.stop();
    }

    /**
     * {@linkplain #shutDown Stops} the engine for good, and closes its persistence unit. Call it before the pool is
     * closed.
     */
    @Override
    public void close() {
        runs.close();
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
        runs.check();
    }
}
