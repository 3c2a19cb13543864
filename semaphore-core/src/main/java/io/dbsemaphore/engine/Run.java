package io.dbsemaphore.engine;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.SemaphorePatterns;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.domain.LocalQueues;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.engine.batch.BatchLimits;
import io.dbsemaphore.engine.batch.BatchObserver;
import io.dbsemaphore.engine.batch.GroupCommit;
import io.dbsemaphore.engine.hold.GrantRegistry;
import io.dbsemaphore.engine.hold.HeldGrant;
import io.dbsemaphore.engine.hold.InstanceLease;
import io.dbsemaphore.engine.hold.KeepAlive;
import io.dbsemaphore.engine.maintenance.DatabaseSemaphoreMaintenance;
import io.dbsemaphore.engine.maintenance.DeadOwners;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.engine.support.Retries;
import io.dbsemaphore.persistence.SemaphorePersistence;
import io.dbsemaphore.spi.OwnerLiveness;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What lives between a start and a stop of the engine: its threads, queues and heartbeat. {@link #end} is the orderly shutdown. An
 * ended run is not restarted: the next start makes another one, which registers as another instance.
 */
final class Run {

    private static final Logger log = LoggerFactory.getLogger(Run.class);

    /** So many completions of asynchronous acquires may block at a time; others wait. */
    private static final int MAX_COMPLETIONS = 64;

    /** For the maintenance, for losses, which are reported one by one, and for releases in the background. */
    private static final int MAX_LISTENERS = 4;

    private static final Duration END_THREADS_AFTER = Duration.ofSeconds(10);
    private static final Duration APPLICATION_TIMEOUT = Duration.ofSeconds(2);

    /** How long the shutdown waits for each thing that the database has to do. */
    private static final Duration DATABASE_TIMEOUT = Duration.ofSeconds(10);

    final ThreadPoolExecutor application;
    final SemaphoreSettings settings;
    final EngineDatabase database;
    final SemaphorePersistence persistence;
    final ListenerNotifier listeners;
    final GrantRegistry held;
    final DatabasePermitManager manager;
    final Retries retry;
    final InstanceLease lease;
    final KeepAlive keepAlive;
    final AcquireFactory acquireFactory;
    final GroupCommit commit;
    final BackgroundReleaser background;
    final PatternSemaphoreCreator patterns;
    final AcquireService acquires;
    final ReleaseService releases;
    final Quotas quotas;
    final FirstHolders firstHolders;
    final DatabaseSemaphoreMaintenance maintenance;
    final ThreadPoolExecutor listenerThreads;
    private final ScheduledThreadPoolExecutor scheduler;
    private boolean maintained;

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
     * @param manager of the engine; handles outlive their run and delegate to it
     * @param admin of the engine
     */
    Run(
            Configuration configuration,
            EngineDatabase database,
            GrantRegistry held,
            DatabasePermitManager manager,
            SemaphoreAdmin admin) {
        DaemonThreads threads = configuration.threads();
        scheduler = threads.scheduler("semaphore-scheduler");
        listenerThreads = threads.growingPool("semaphore-listeners", MAX_LISTENERS, END_THREADS_AFTER);
        application = threads.growingPool("semaphore-application", MAX_COMPLETIONS, END_THREADS_AFTER);
        settings = configuration.settings();
        listeners = configuration.listeners();
        this.database = database;
        this.held = held;
        this.manager = manager;
        persistence = database.persistence();
        Duration lockWait = settings.get(SemaphoreSettings.LOCK_WAIT_TIMEOUT);
        retry = new Retries(settings.get(SemaphoreSettings.MAX_ATTEMPTS), lockWait, listeners);
        BatchLimits limits = new BatchLimits(
                transactionsAtOnce(),
                settings.get(SemaphoreSettings.MAX_BATCH_SIZE),
                settings.get(SemaphoreSettings.MAX_ATTEMPTS),
                lockWait);
        background = new BackgroundReleaser(persistence.undoing(), scheduler, databaseThreads());
        lease = new InstanceLease(
                persistence.holds(),
                settings.get(SemaphoreSettings.OWNER),
                settings.get(SemaphoreSettings.INSTANCE_TIMEOUT));
        keepAlive = new KeepAlive(
                database.sessions(),
                persistence.holds(),
                lease,
                held,
                listeners,
                threads,
                listenerThreads,
                settings.get(SemaphoreSettings.KEEP_ALIVE_INTERVAL),
                settings.get(SemaphoreSettings.LEAK_DETECTION_THRESHOLD));
        acquireFactory = new AcquireFactory(settings, lease);
        commit = new GroupCommit(
                new GroupCommit.Collaborators(
                        persistence.batches(),
                        persistence.availabilityTransactions(),
                        keepAlive::prepare,
                        background,
                        listeners,
                        new Batches(),
                        new LocalQueues(
                                lease.id(),
                                settings.get(SemaphoreSettings.OWNER),
                                settings.get(SemaphoreSettings.FAIR)::of),
                        threads,
                        scheduler,
                        databaseThreads(),
                        database.channel()),
                limits,
                settings.get(SemaphoreSettings.DECISION_TIMEOUT),
                database.certifiesWrites());
        releases = new ReleaseService(this);
        quotas = new Quotas(
                settings,
                acquireFactory,
                commit,
                releases,
                persistence.availabilityTransactions(),
                lease.id(),
                listeners,
                manager,
                keepAlive,
                scheduler,
                databaseThreads());
        patterns = new PatternSemaphoreCreator(this, configuration.patterns());
        acquires = new AcquireService(this);
        firstHolders = new FirstHolders(this);
        maintenance = new DatabaseSemaphoreMaintenance(
                settings,
                persistence.maintenance(),
                manager,
                admin,
                new DeadOwners(configuration.ownerLiveness(), settings.get(MaintenanceSettings.OWNER_GRACE)),
                retry,
                listeners,
                commit::pollNow,
                scheduler,
                listenerThreads);
    }

    /**
     * Starts the threads. Those for completions start with the first one: few applications acquire asynchronously.
     *
     * @throws OutOfMemoryError if the system has none for them
     */
    void start() {
        commit.start();
        keepAlive.start();
        int unused = scheduler.prestartAllCoreThreads() + listenerThreads.prestartAllCoreThreads();
    }

    /** Passes the events of batches to {@link #quotas}. Batches begin only when this run is complete. */
    private final class Batches implements BatchObserver {

        @Override
        public void waiting(Set<String> names) {
            quotas.serveWaiting(names);
        }

        @Override
        public void committed(Map<String, RemainingAvailability> availability) {
            quotas.observe(availability);
        }
    }

    /** The maximum number of concurrent transactions of one kind, so that connections remain for the other kinds. */
    private int transactionsAtOnce() {
        return Math.max(1, settings.get(SemaphoreSettings.MAX_CONNECTIONS) / 2);
    }

    void startMaintenance() {
        if (!maintained) {
            maintained = true;
            maintenance.schedule();
        }
    }

    /** The threads that may wait for the database. */
    Executor databaseThreads() {
        return database.sessions().threads();
    }

    /**
     * Ends this run: no further acquires are granted, work in progress may complete within a bounded time, and grants that are
     * still held then are released. Takes a bounded time also if the database is unavailable. Grants without a time to live, and
     * those whose request says so, outlive the JVM.
     */
    void end() {
        maintenance.close();
        try {
            awaitWork();
            releaseRest();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            log.warn(
                    "The shutdown was interrupted; permits that are still held become available when their TTL has passed");
        } finally {
            keepAlive.close();
        }
        commit.stopAcquires();
        background.close();
        commit.close();
        scheduler.shutdown(); // deadlines of acquires that are still in progress end them
        endApplicationThreads(Deadline.in(APPLICATION_TIMEOUT));
    }

    /** Lets code of the application that was called before end, such as a listener, for a bounded time. */
    private void endApplicationThreads(Deadline until) {
        listenerThreads.shutdown();
        application.shutdown();
        try {
            if (!listenerThreads.awaitTermination(until.remainingNanos(), TimeUnit.NANOSECONDS)
                    || !application.awaitTermination(until.remainingNanos(), TimeUnit.NANOSECONDS)) {
                log.debug("Code of the application that the semaphores called has not returned at shutdown");
            }
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }

    private void awaitWork() throws InterruptedException {
        quotas.close();
        commit.stopAcquires(); // waiting callers get an exception
        if (!acquires.awaitNone(DATABASE_TIMEOUT)) {
            log.warn(
                    "Some acquires were still in progress after {}; their permits become available when their TTL has passed",
                    DATABASE_TIMEOUT);
        }
        held.awaitNoWork(Deadline.in(settings.get(SemaphoreSettings.SHUTDOWN_TIMEOUT)));
        if (!quotas.awaitReturns(Deadline.in(DATABASE_TIMEOUT))) {
            log.warn(
                    "Some idle permits had not gone back after {}; they become available when the instance counts as dead"
                            + " (semaphore.instance-timeout), or when their TTL has passed",
                    DATABASE_TIMEOUT);
        }
    }

    private void releaseRest() throws InterruptedException {
        List<HeldGrant> rest =
                held.all().stream().filter(state -> !state.outlivesShutdown()).toList();
        CompletableFuture<?>[] released = rest.stream()
                .map(state -> releases.giveBack(state, releases.eventOf(state)))
                .toArray(CompletableFuture[]::new);
        @Nullable Exception cause = null;
        try {
            @Nullable Object unused = CompletableFuture.allOf(released)
                    .whenCompleteAsync((done, failure) -> keepAlive.deregister(), databaseThreads())
                    .get(DATABASE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException failure) {
            cause = failure;
        }
        long left = rest.stream().filter(state -> !state.isReleased()).count();
        if (left < rest.size()) {
            log.info("Released {} grant(s) that were still held at shutdown", rest.size() - left);
        }
        if (left > 0) {
            log.warn(
                    "{} grant(s) could not be released at shutdown; their permits become available when their TTL has passed",
                    left,
                    cause);
        }
    }
}
