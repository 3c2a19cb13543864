package io.dbsemaphore.engine;

import io.dbsemaphore.OwnerLiveness;
import io.dbsemaphore.PermitManager;
import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.SemaphoreListener;
import io.dbsemaphore.SemaphoreMaintenance;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.config.SemaphorePatterns;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.support.ListenerNotifier;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.sql.DataSource;

/**
 * The semaphores of one database, as one JVM uses them: what an application without the starter makes, once for each
 * {@code DataSource}, and closes before the pool.
 *
 * <pre>{@code
 * try (SemaphoreEngine engine = new SemaphoreEngine(dataSource, SemaphoreSettings.defaults())) {
 *     SemaphoreTemplate semaphores = new SemaphoreTemplate(engine.permitManager());
 *     …
 * }
 * }</pre>
 *
 * <p>It can be {@linkplain #shutDown stopped} and {@linkplain #start started} again, any number of times; only
 * {@link #close} is for good.
 */
public final class SemaphoreEngine implements AutoCloseable {

    private final EngineRuns runs;
    private final PermitManager permitManager;
    private final SemaphoreAdmin admin;
    private final SemaphoreMaintenance maintenance;

    /** Makes an engine without patterns and listeners. */
    public SemaphoreEngine(DataSource dataSource, SemaphoreSettings settings) {
        this(dataSource, settings, SemaphorePatterns.NONE, List::of, List::of);
    }

    /**
     * Makes an engine. The tables must be there.
     *
     * @param dataSource the host's own, on which it has its transactions
     * @param semaphoreListeners asked with each event, so that they may be made after the engine
     * @param ownerLiveness asked with each release of orphans
     * @throws SemaphoreTablesMissingException when the changelog has not run
     * @throws DatabaseNotWritableException when it refuses writes
     * @throws io.dbsemaphore.jdbc.UnsupportedDatabaseException when the database is none that is supported
     * @throws org.springframework.dao.DataAccessException when it cannot be reached
     */
    public SemaphoreEngine(
            DataSource dataSource,
            SemaphoreSettings settings,
            SemaphorePatterns patterns,
            Supplier<List<SemaphoreListener>> semaphoreListeners,
            Supplier<List<OwnerLiveness>> ownerLiveness) {
        this(dataSource, settings, patterns, semaphoreListeners, ownerLiveness, new DaemonThreads());
    }

    SemaphoreEngine(
            DataSource dataSource,
            SemaphoreSettings settings,
            SemaphorePatterns patterns,
            Supplier<List<SemaphoreListener>> semaphoreListeners,
            Supplier<List<OwnerLiveness>> ownerLiveness,
            DaemonThreads threads) {
        this(new EngineRuns(
                new EngineRun.Configuration(
                        settings, patterns, new ListenerNotifier(semaphoreListeners), ownerLiveness, threads),
                () -> EngineDatabase.open(dataSource, settings),
                admin -> {}));
        runs.open();
    }

    private SemaphoreEngine(EngineRuns runs) {
        this.runs = runs;
        permitManager = runs.permitManager();
        admin = new DelegatingAdmin(runs);
        maintenance = new DelegatingMaintenance(runs);
    }

    /**
     * Makes an engine that starts on a thread of its own, so that an application can do other things meanwhile. Whatever
     * uses the engine waits for its start; {@link #start} does, too. If the start fails, each of them throws what it failed
     * with, as the {@linkplain #SemaphoreEngine constructor} would.
     *
     * @param schemaWait how long to wait for tables that are not there yet, since something else makes them
     * @param onceOpen what is done as soon as the tables are there, before anything else; its failure is one of the start
     */
    public static SemaphoreEngine inBackground(
            DataSource dataSource,
            SemaphoreSettings settings,
            SemaphorePatterns patterns,
            Supplier<List<SemaphoreListener>> semaphoreListeners,
            Supplier<List<OwnerLiveness>> ownerLiveness,
            Duration schemaWait,
            Consumer<SemaphoreAdmin> onceOpen) {
        EngineRuns runs = new EngineRuns(
                new EngineRun.Configuration(
                        settings,
                        patterns,
                        new ListenerNotifier(semaphoreListeners),
                        ownerLiveness,
                        new DaemonThreads()),
                () -> EngineDatabase.open(dataSource, settings, schemaWait),
                onceOpen);
        runs.openInBackground();
        return new SemaphoreEngine(runs);
    }

    /**
     * Begins the maintenance by schedule; without it an engine does only what it is asked to. An engine that was
     * {@linkplain #shutDown stopped} works again, as another instance to the database.
     *
     * @throws IllegalStateException when it is closed
     * @throws RuntimeException when it was to start in the background, and that failed
     */
    public void start() {
        runs.start();
    }

    /** What the schedule does, and an operator may. */
    public SemaphoreMaintenance maintenance() {
        return maintenance;
    }

    /** What a {@link io.dbsemaphore.SemaphoreTemplate} is made of. */
    public PermitManager permitManager() {
        return permitManager;
    }

    /** What operators do. */
    public SemaphoreAdmin admin() {
        return admin;
    }

    /**
     * Stops what this JVM does until it is {@linkplain #start started} again: stops granting, waits a bounded time for work
     * under way, releases what is still held, except what has no time to live, and gives back all connections. Meanwhile
     * an acquire throws {@link io.dbsemaphore.SemaphoreClosedException}. To be called before the pool is suspended.
     */
    public void shutDown() {
        runs.stop();
    }

    /** {@linkplain #shutDown Stops} for good, and gives up the persistence unit. To be called before the pool is closed. */
    @Override
    public void close() {
        runs.close();
    }

    /**
     * Reads from each table, and writes to no row of one, in a transaction of its own.
     *
     * @throws SemaphoreTablesMissingException when the changelog has not run
     * @throws DatabaseNotWritableException when it refuses writes
     * @throws org.springframework.dao.DataAccessException when the database cannot be reached, or denies it
     */
    public void check() {
        runs.check();
    }
}
