package io.dbsemaphore.engine;

import io.dbsemaphore.OwnerLiveness;
import io.dbsemaphore.PermitManager;
import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.SemaphoreListener;
import io.dbsemaphore.SemaphoreMaintenance;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.SemaphoreDataSource;
import io.dbsemaphore.jdbc.WriteCertification;
import io.dbsemaphore.persistence.SemaphorePersistence;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessResourceFailureException;

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
 */
public final class SemaphoreEngine implements AutoCloseable {

    private final SemaphoreSettings settings;
    private final MaintenanceSettings maintenanceSettings;
    private final SemaphoreDataSource connections;
    private final SemaphorePersistence persistence;
    private final Grants grants;
    private final Releases releases;
    private final Renewals renewals;
    private final BackgroundReleases background;
    private final PermitManager permitManager;
    private final SemaphoreAdmin admin;
    private final SemaphoreMaintenance maintenance;
    private final Shutdown shutdown;
    private @Nullable MaintenanceSchedule schedule;
    private boolean shutDown;

    /** Makes an engine with the defaults beside these settings. */
    public SemaphoreEngine(DataSource dataSource, SemaphoreSettings settings) {
        this(dataSource, settings, MaintenanceSettings.defaults(), SemaphorePatterns.NONE, List::of, List::of);
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
            MaintenanceSettings maintenanceSettings,
            SemaphorePatterns patterns,
            Supplier<List<SemaphoreListener>> semaphoreListeners,
            Supplier<List<OwnerLiveness>> ownerLiveness) {
        this.settings = settings;
        this.maintenanceSettings = maintenanceSettings;
        Database database = databaseOf(dataSource);
        boolean certifiesWrites = certifiesWrites(dataSource, database);
        connections = new SemaphoreDataSource(
                dataSource,
                database,
                settings.lockWaitTimeout(),
                settings.sessionIdleLimit(),
                settings.maxConnections());
        persistence = new SemaphorePersistence(
                connections, database, settings.tablePrefix(), InstanceLease.grace(settings.instanceTimeout()));
        background = new BackgroundReleases(persistence.undoing());
        Listeners listeners = new Listeners(semaphoreListeners);
        TransientRetry retry = new TransientRetry(settings.maxAttempts(), listeners);
        Intake intake = new Intake();
        HeldGrants held = new HeldGrants();
        CheckedGrants checked = new CheckedGrants();
        InstanceLease lease = new InstanceLease(persistence.instances(), settings.owner(), settings.instanceTimeout());
        KeepAlive keepAlive =
                new KeepAlive(persistence.renewals(), lease, held, listeners, settings.keepAliveInterval());
        GrantAttempt attempt = new GrantAttempt(persistence.grants(), keepAlive, listeners);
        DirectReleases direct = new DirectReleases(persistence.releases(), retry);
        GatheredReleases gathered = new GatheredReleases(
                persistence.releases(), lanes(), settings.maxBatchSize(), settings.maxAttempts(), listeners);
        releases = gathered;
        grants = new GatheredGrants(
                attempt,
                persistence.levels(),
                gathered,
                background,
                lanes(),
                settings.maxBatchSize(),
                settings.maxAttempts(),
                settings.lockWaitTimeout());
        renewals = new GatheredRenewals(
                persistence.renewals(), lanes(), settings.maxBatchSize(), settings.maxAttempts(), listeners);
        Releaser releaser = new Releaser(
                releases, persistence.releases(), direct, held, checked, background, grants, keepAlive, listeners);
        permitManager = new DatabasePermitManager(
                new OrderFactory(settings, lease),
                intake,
                new PatternSemaphores(patterns, persistence.admin(), retry),
                new Granter(grants, persistence.undoing(), retry, background),
                releaser,
                renewals,
                persistence.renewals(),
                retry,
                held,
                keepAlive,
                lease,
                new HeldCheck(dataSource, database, settings.tablePrefix(), certifiesWrites),
                checked,
                listeners);
        admin = new DatabaseSemaphoreAdmin(persistence.admin(), releaser, retry, grants, listeners);
        maintenance = new DatabaseSemaphoreMaintenance(
                maintenanceSettings,
                persistence.maintenance(),
                permitManager,
                admin,
                new DeadOwners(ownerLiveness, maintenanceSettings.ownerGrace()),
                retry,
                listeners,
                grants);
        shutdown = new Shutdown(intake, grants, held, keepAlive, persistence.releases(), retry, listeners);
        requireTables();
    }

    /** How many transactions of one kind may be under way: the others are left connections, too. */
    private int lanes() {
        return Math.max(1, settings.maxConnections() / 2);
    }

    /** Begins the maintenance by schedule; without it an engine does only what it is asked to. */
    public synchronized void start() {
        if (schedule == null) {
            schedule = new MaintenanceSchedule(maintenance, maintenanceSettings);
        }
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
     * Ends what this JVM does: stops granting, waits a bounded time for work under way, and releases what is still held,
     * except what has no time to live. To be called before the pool is closed.
     */
    public synchronized void shutDown() {
        if (!shutDown) {
            shutDown = true;
            if (schedule != null) {
                schedule.close();
            }
            shutdown.run(settings.shutdownTimeout());
        }
    }

    /** {@linkplain #shutDown Shuts down} and gives up the persistence unit. */
    @Override
    public void close() {
        shutDown();
        giveUp();
    }

    private void giveUp() {
        grants.close();
        background.close();
        releases.close();
        renewals.close();
        persistence.close();
        connections.close();
    }

    private void requireTables() {
        try {
            check();
        } catch (RuntimeException failure) {
            giveUp();
            throw failure;
        }
    }

    /**
     * Reads from each table, and writes to no row of one, in a transaction of its own.
     *
     * @throws SemaphoreTablesMissingException when the changelog has not run
     * @throws DatabaseNotWritableException when it refuses writes
     * @throws org.springframework.dao.DataAccessException when the database cannot be reached, or denies it
     */
    public void check() {
        try {
            persistence.admin().touchTables();
        } catch (RuntimeException failure) {
            if (SemaphorePersistence.isMissingTable(failure)) {
                throw new SemaphoreTablesMissingException(settings.tablePrefix(), failure);
            }
            throw DatabaseNotWritableException.of(failure)
                    .<RuntimeException>map(refused -> refused)
                    .orElse(failure);
        }
    }

    private static Database databaseOf(DataSource dataSource) {
        try {
            return Database.of(dataSource);
        } catch (SQLException failure) {
            throw unreachable(failure);
        }
    }

    private static boolean certifiesWrites(DataSource dataSource, Database database) {
        try {
            return WriteCertification.isOn(dataSource, database);
        } catch (SQLException failure) {
            throw unreachable(failure);
        }
    }

    private static DataAccessResourceFailureException unreachable(SQLException failure) {
        return new DataAccessResourceFailureException("The database of the semaphores cannot be reached", failure);
    }
}
