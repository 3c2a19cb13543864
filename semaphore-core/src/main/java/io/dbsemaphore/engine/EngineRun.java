package io.dbsemaphore.engine;

import io.dbsemaphore.OwnerLiveness;
import io.dbsemaphore.PermitManager;
import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.SemaphoreMaintenance;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.SemaphorePatterns;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.domain.FairQueuing;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.engine.batch.BatchLimits;
import io.dbsemaphore.engine.batch.BatchObserver;
import io.dbsemaphore.engine.batch.GroupCommit;
import io.dbsemaphore.engine.hold.CheckedGrants;
import io.dbsemaphore.engine.hold.GrantOperations;
import io.dbsemaphore.engine.hold.GrantRegistry;
import io.dbsemaphore.engine.hold.InstanceLease;
import io.dbsemaphore.engine.hold.KeepAlive;
import io.dbsemaphore.engine.maintenance.DatabaseSemaphoreMaintenance;
import io.dbsemaphore.engine.maintenance.DeadOwners;
import io.dbsemaphore.engine.maintenance.MaintenanceSchedule;
import io.dbsemaphore.engine.reuse.ReusedGrant;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.engine.support.Retries;
import io.dbsemaphore.persistence.SemaphorePersistence;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The components of an engine between a start and a stop: its threads, queues and heartbeat. An ended run cannot be restarted;
 * the next start makes another one, which registers as another instance.
 */
final class EngineRun {

    /** So many completions of asynchronous acquires, which are code of the application, may block at a time; others wait. */
    private static final int MAX_COMPLETIONS = 64;

    private static final Duration END_COMPLETIONS_AFTER = Duration.ofSeconds(10);

    private final DaemonThreads threads;
    private final SemaphoreSettings settings;
    private final SemaphorePersistence persistence;
    private final Retries retry;
    private final AcquireFactory acquireFactory;
    private final GroupCommit commit;
    private final BackgroundReleaser background;
    private final ExecutorService completions;
    private final AcquireService acquires;
    private final ReleaseService releases;
    private final ReuseService reuse;
    private final HeldGrantService heldGrants;
    private final SemaphoreMaintenance maintenance;
    private final Shutdown shutdown;
    private @Nullable MaintenanceSchedule schedule;

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
     * Creates a run.
     *
     * @param held the grants that this JVM holds, those of earlier runs included
     * @param manager of the engine
     * @param admin of the engine
     * @param operations of the engine; handles outlive their run and delegate to these
     * @param uses the same, for handles of reusable permits
     */
    EngineRun(
            Configuration configuration,
            EngineDatabase database,
            GrantRegistry held,
            CheckedGrants checked,
            PermitManager manager,
            SemaphoreAdmin admin,
            GrantOperations operations,
            ReusedGrant.Operations uses) {
        threads = configuration.threads();
        settings = configuration.settings();
        persistence = database.persistence();
        ListenerNotifier listeners = configuration.listeners();
        Duration lockWait = settings.get(SemaphoreSettings.LOCK_WAIT_TIMEOUT);
        retry = new Retries(settings.get(SemaphoreSettings.MAX_ATTEMPTS), lockWait, listeners);
        BatchLimits limits = new BatchLimits(
                transactionsAtOnce(),
                settings.get(SemaphoreSettings.MAX_BATCH_SIZE),
                settings.get(SemaphoreSettings.MAX_ATTEMPTS),
                lockWait);
        background = new BackgroundReleaser(persistence.undoing(), threads);
        completions = threads.pool("semaphore-completion", MAX_COMPLETIONS, END_COMPLETIONS_AFTER);
        AdmissionGate gate = new AdmissionGate();
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
                settings.get(SemaphoreSettings.KEEP_ALIVE_INTERVAL),
                settings.get(SemaphoreSettings.LEAK_DETECTION_THRESHOLD));
        acquireFactory = new AcquireFactory(settings, lease);
        commit = new GroupCommit(
                new GroupCommit.Collaborators(
                        persistence.grants(),
                        persistence.releases(),
                        persistence.availabilityTransactions(),
                        keepAlive::prepare,
                        background,
                        listeners,
                        new Batches(),
                        new FairQueuing(
                                lease.id(),
                                settings.get(SemaphoreSettings.OWNER),
                                settings.get(SemaphoreSettings.FAIR)::of),
                        threads,
                        database.channel()),
                limits,
                settings.get(SemaphoreSettings.DECISION_TIMEOUT),
                database.certifiesWrites());
        releases = new ReleaseService(
                persistence.releases(),
                retry,
                lockWait,
                held,
                checked,
                background,
                commit,
                keepAlive,
                listeners);
        reuse = new ReuseService(
                settings.get(SemaphoreSettings.REUSE), acquireFactory, commit, releases, listeners, uses, threads);
        PatternSemaphoreCreator patterns = new PatternSemaphoreCreator(
                configuration.patterns(),
                persistence.admin(),
                retry,
                database.sessions().threads());
        acquires = new AcquireService(
                gate,
                commit,
                patterns,
                acquireFactory,
                reuse,
                releases,
                background,
                settings.get(SemaphoreSettings.DECISION_TIMEOUT),
                held,
                keepAlive,
                lease,
                listeners,
                operations,
                completions);
        heldGrants = new HeldGrantService(
                acquireFactory,
                persistence.renewals(),
                retry,
                held,
                keepAlive,
                database.heldCheck(),
                checked,
                operations);
        maintenance = new DatabaseSemaphoreMaintenance(
                settings,
                persistence.maintenance(),
                manager,
                admin,
                new DeadOwners(configuration.ownerLiveness(), settings.get(MaintenanceSettings.OWNER_GRACE)),
                retry,
                listeners,
                commit::pollNow);
        shutdown =
                new Shutdown(gate, reuse, commit, held, keepAlive, persistence.releases(), retry, listeners, threads);
        commit.start();
    }

    /** Passes the events of batches to {@link #reuse}. Batches begin only when this run is complete. */
    private final class Batches implements BatchObserver {

        @Override
        public void waiting(Set<String> names) {
            reuse.serveWaiting(names);
        }

        @Override
        public void committed(Map<String, RemainingAvailability> availability) {
            reuse.observe(availability);
        }
    }

    /** The maximum number of concurrent transactions of one kind, so that connections remain for the other kinds. */
    private int transactionsAtOnce() {
        return Math.max(1, settings.get(SemaphoreSettings.MAX_CONNECTIONS) / 2);
    }

    void startMaintenance() {
        if (schedule == null) {
            schedule = new MaintenanceSchedule(maintenance, settings);
        }
    }

    AcquireFactory acquireFactory() {
        return acquireFactory;
    }

    AcquireService acquires() {
        return acquires;
    }

    ReleaseService releases() {
        return releases;
    }

    ReuseService reuse() {
        return reuse;
    }

    HeldGrantService heldGrants() {
        return heldGrants;
    }

    SemaphorePersistence persistence() {
        return persistence;
    }

    Retries retry() {
        return retry;
    }

    /** Looks for permits for waiting callers at once. */
    void pollNow() {
        commit.pollNow();
    }

    SemaphoreMaintenance maintenance() {
        return maintenance;
    }

    /** Ends this run: work in progress may complete within a bounded time, and grants that are still held then are released. */
    void end() {
        if (schedule != null) {
            schedule.close();
        }
        shutdown.run(settings.get(SemaphoreSettings.SHUTDOWN_TIMEOUT));
        commit.stopAcquires();
        background.close();
        commit.close();
        completions.shutdown();
    }
}
