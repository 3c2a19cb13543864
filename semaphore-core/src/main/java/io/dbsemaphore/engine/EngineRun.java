package io.dbsemaphore.engine;

import io.dbsemaphore.OwnerLiveness;
import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.SemaphoreMaintenance;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.persistence.SemaphorePersistence;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What works between a start and a stop of an engine: its threads, queues and heartbeat. It ends for good; the next
 * start makes another one, which is another instance to the database.
 */
final class EngineRun {

    private final DaemonThreads threads;
    private final SemaphoreSettings settings;
    private final MaintenanceSettings maintenanceSettings;
    private final Grants grants;
    private final Releases releases;
    private final Renewals renewals;
    private final BackgroundReleases background;
    private final CompletionThreads completions;
    private final DatabasePermitManager permitManager;
    private final SemaphoreAdmin admin;
    private final SemaphoreMaintenance maintenance;
    private final Shutdown shutdown;
    private @Nullable MaintenanceSchedule schedule;

    /** What an engine is configured with. */
    record Configuration(
            SemaphoreSettings settings,
            MaintenanceSettings maintenanceSettings,
            SemaphorePatterns patterns,
            Listeners listeners,
            Supplier<List<OwnerLiveness>> ownerLiveness,
            DaemonThreads threads) {}

    /**
     * Makes a run.
     *
     * @param held what this JVM holds, from earlier runs, too
     * @param current the run of the moment, for handles that outlive theirs
     */
    EngineRun(
            Configuration configuration,
            EngineDatabase database,
            HeldGrants held,
            CheckedGrants checked,
            Supplier<DatabasePermitManager> current) {
        threads = configuration.threads();
        settings = configuration.settings();
        maintenanceSettings = configuration.maintenanceSettings();
        SemaphorePersistence persistence = database.persistence();
        Listeners listeners = configuration.listeners();
        background = new BackgroundReleases(persistence.undoing(), threads);
        completions = new CompletionThreads(threads);
        TransientRetry retry = new TransientRetry(settings.maxAttempts(), listeners);
        Intake intake = new Intake();
        InstanceLease lease = new InstanceLease(persistence.instances(), settings.owner(), settings.instanceTimeout());
        KeepAlive keepAlive = new KeepAlive(
                database.sessions(),
                persistence.keepAlive(),
                lease,
                held,
                listeners,
                threads,
                settings.keepAliveInterval());
        GrantAttempt attempt = new GrantAttempt(persistence.grants(), keepAlive::prepare, listeners);
        UnbatchedReleases unbatched = new UnbatchedReleases(retry, settings.lockWaitTimeout());
        GatheredReleases gathered = new GatheredReleases(
                persistence.releases(),
                threads,
                lanes(),
                settings.maxBatchSize(),
                settings.maxAttempts(),
                settings.lockWaitTimeout(),
                listeners);
        releases = gathered;
        grants = new GatheredGrants(
                attempt,
                persistence.levels(),
                gathered,
                background,
                threads,
                lanes(),
                settings.maxBatchSize(),
                settings.maxAttempts(),
                settings.lockWaitTimeout(),
                settings.decisionTimeout());
        renewals = new GatheredRenewals(
                persistence.renewals(),
                threads,
                lanes(),
                settings.maxBatchSize(),
                settings.maxAttempts(),
                settings.lockWaitTimeout(),
                listeners);
        Releaser releaser = new Releaser(
                releases, persistence.releases(), unbatched, held, checked, background, grants, keepAlive, listeners);
        PatternSemaphores patterns = new PatternSemaphores(configuration.patterns(), persistence.admin(), retry);
        Granter granter = new Granter(grants, persistence.undoing(), retry, background);
        permitManager = new DatabasePermitManager(
                new OrderFactory(settings, lease),
                intake,
                patterns,
                granter,
                new AsyncAcquires(intake, patterns, granter, completions),
                releaser,
                renewals,
                persistence.renewals(),
                retry,
                held,
                keepAlive,
                lease,
                database.heldCheck(),
                checked,
                listeners,
                current);
        admin = new DatabaseSemaphoreAdmin(persistence.admin(), releaser, permitManager, retry, grants, listeners);
        maintenance = new DatabaseSemaphoreMaintenance(
                maintenanceSettings,
                persistence.maintenance(),
                permitManager,
                admin,
                new DeadOwners(configuration.ownerLiveness(), maintenanceSettings.ownerGrace()),
                retry,
                listeners,
                grants::lookAgain);
        shutdown = new Shutdown(intake, grants, held, keepAlive, persistence.releases(), retry, listeners, threads);
        threads.open();
    }

    /** How many transactions of one kind may be under way: the others are left connections, too. */
    private int lanes() {
        return Math.max(1, settings.maxConnections() / 2);
    }

    /** Begins the maintenance by schedule. */
    void startMaintenance() {
        if (schedule == null) {
            schedule = new MaintenanceSchedule(maintenance, maintenanceSettings);
        }
    }

    DatabasePermitManager permitManager() {
        return permitManager;
    }

    SemaphoreAdmin admin() {
        return admin;
    }

    SemaphoreMaintenance maintenance() {
        return maintenance;
    }

    /** Ends in order: what is under way may finish for a bounded time, and what is still held then is released. */
    void end() {
        if (schedule != null) {
            schedule.close();
        }
        shutdown.run(settings.shutdownTimeout());
        grants.close();
        background.close();
        releases.close();
        renewals.close();
        completions.close();
        threads.close();
    }
}
