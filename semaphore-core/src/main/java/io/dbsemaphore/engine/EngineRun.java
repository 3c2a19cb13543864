package io.dbsemaphore.engine;

import io.dbsemaphore.OwnerLiveness;
import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.SemaphoreMaintenance;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.SemaphorePatterns;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.batch.BatchTransaction;
import io.dbsemaphore.engine.batch.BatchingGranter;
import io.dbsemaphore.engine.batch.Granter;
import io.dbsemaphore.engine.batch.ReleaseBatcher;
import io.dbsemaphore.engine.batch.Releases;
import io.dbsemaphore.engine.batch.RenewalBatcher;
import io.dbsemaphore.engine.batch.Renewals;
import io.dbsemaphore.engine.hold.CheckedGrants;
import io.dbsemaphore.engine.hold.GrantRegistry;
import io.dbsemaphore.engine.hold.InstanceLease;
import io.dbsemaphore.engine.hold.KeepAlive;
import io.dbsemaphore.engine.maintenance.DatabaseSemaphoreMaintenance;
import io.dbsemaphore.engine.maintenance.DeadOwners;
import io.dbsemaphore.engine.maintenance.MaintenanceSchedule;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import io.dbsemaphore.engine.support.CompletionExecutor;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.engine.support.Retries;
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
    private final Granter grants;
    private final Releases releases;
    private final Renewals renewals;
    private final BackgroundReleaser background;
    private final CompletionExecutor completions;
    private final DatabasePermitManager permitManager;
    private final SemaphoreAdmin admin;
    private final SemaphoreMaintenance maintenance;
    private final Shutdown shutdown;
    private @Nullable MaintenanceSchedule schedule;

    /** What an engine is configured with. */
    record Configuration(
            SemaphoreSettings settings,
            SemaphorePatterns patterns,
            ListenerNotifier listeners,
            Supplier<List<OwnerLiveness>> ownerLiveness,
            DaemonThreads threads) {

        Configuration {
            settings = settings.requireConsistent();
        }
    }

    /**
     * Makes a run.
     *
     * @param held what this JVM holds, from earlier runs, too
     * @param current the run of the moment, for handles that outlive theirs
     */
    EngineRun(
            Configuration configuration,
            EngineDatabase database,
            GrantRegistry held,
            CheckedGrants checked,
            Supplier<DatabasePermitManager> current) {
        threads = configuration.threads();
        settings = configuration.settings();
        SemaphorePersistence persistence = database.persistence();
        ListenerNotifier listeners = configuration.listeners();
        background = new BackgroundReleaser(persistence.undoing(), threads);
        completions = new CompletionExecutor(threads);
        Retries retry = new Retries(settings.get(SemaphoreSettings.MAX_ATTEMPTS), listeners);
        AdmissionGate intake = new AdmissionGate();
        InstanceLease lease = new InstanceLease(
                persistence.instances(),
                settings.get(SemaphoreSettings.OWNER),
                settings.get(SemaphoreSettings.INSTANCE_TIMEOUT));
        KeepAlive keepAlive = new KeepAlive(
                database.sessions(),
                persistence.keepAlive(),
                lease,
                held,
                listeners,
                threads,
                settings.get(SemaphoreSettings.KEEP_ALIVE_INTERVAL));
        BatchTransaction attempt = new BatchTransaction(persistence.grants(), keepAlive::prepare, listeners);
        ReleasesByExternalId unbatched =
                new ReleasesByExternalId(retry, settings.get(SemaphoreSettings.LOCK_WAIT_TIMEOUT));
        ReleaseBatcher releaseBatcher = new ReleaseBatcher(
                persistence.releases(),
                threads,
                transactionsAtOnce(),
                settings.get(SemaphoreSettings.MAX_BATCH_SIZE),
                settings.get(SemaphoreSettings.MAX_ATTEMPTS),
                settings.get(SemaphoreSettings.LOCK_WAIT_TIMEOUT),
                listeners);
        releases = releaseBatcher;
        grants = new BatchingGranter(
                attempt,
                persistence.availabilityTransactions(),
                releaseBatcher,
                background,
                threads,
                transactionsAtOnce(),
                settings.get(SemaphoreSettings.MAX_BATCH_SIZE),
                settings.get(SemaphoreSettings.MAX_ATTEMPTS),
                settings.get(SemaphoreSettings.LOCK_WAIT_TIMEOUT),
                settings.get(SemaphoreSettings.DECISION_TIMEOUT),
                database.certifiesWrites());
        renewals = new RenewalBatcher(
                persistence.renewals(),
                threads,
                transactionsAtOnce(),
                settings.get(SemaphoreSettings.MAX_BATCH_SIZE),
                settings.get(SemaphoreSettings.MAX_ATTEMPTS),
                settings.get(SemaphoreSettings.LOCK_WAIT_TIMEOUT),
                listeners);
        ReleaseService releaser = new ReleaseService(
                releases, persistence.releases(), unbatched, held, checked, background, grants, keepAlive, listeners);
        PatternSemaphoreCreator patterns =
                new PatternSemaphoreCreator(configuration.patterns(), persistence.admin(), retry);
        AcquireService granter = new AcquireService(grants, persistence.undoing(), retry, background);
        permitManager = new DatabasePermitManager(
                new AcquireCommandFactory(settings, lease),
                intake,
                patterns,
                granter,
                new AsyncAcquireService(intake, patterns, granter, completions),
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
                settings,
                persistence.maintenance(),
                permitManager,
                admin,
                new DeadOwners(configuration.ownerLiveness(), settings.get(MaintenanceSettings.OWNER_GRACE)),
                retry,
                listeners,
                grants::lookAgain);
        shutdown = new Shutdown(intake, grants, held, keepAlive, persistence.releases(), retry, listeners, threads);
        threads.open();
    }

    /** How many transactions of one kind may be under way: the others are left connections, too. */
    private int transactionsAtOnce() {
        return Math.max(1, settings.get(SemaphoreSettings.MAX_CONNECTIONS) / 2);
    }

    /** Begins the maintenance by schedule. */
    void startMaintenance() {
        if (schedule == null) {
            schedule = new MaintenanceSchedule(maintenance, settings);
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
        shutdown.run(settings.get(SemaphoreSettings.SHUTDOWN_TIMEOUT));
        grants.close();
        background.close();
        releases.close();
        renewals.close();
        completions.close();
        threads.close();
    }
}
