package io.dbsemaphore.engine;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.concurrent.LimitedExecutor;
import io.dbsemaphore.concurrent.UnexpectedErrors;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.OnFull;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.engine.batch.BackgroundReleaser;
import io.dbsemaphore.engine.batch.BatchLimits;
import io.dbsemaphore.engine.batch.BatchObserver;
import io.dbsemaphore.engine.batch.GroupCommit;
import io.dbsemaphore.engine.hold.GrantHandle;
import io.dbsemaphore.engine.hold.GrantRegistry;
import io.dbsemaphore.engine.hold.HeldGrant;
import io.dbsemaphore.engine.hold.InstanceLease;
import io.dbsemaphore.engine.hold.KeepAlive;
import io.dbsemaphore.engine.quota.Quotas;
import io.dbsemaphore.jdbc.SqlErrorKind;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.line.OwnLines;
import io.dbsemaphore.line.ShareTags;
import io.dbsemaphore.persistence.SemaphorePersistence;
import io.dbsemaphore.persistence.unit.Retries;
import io.dbsemaphore.spi.CapacityProvider;
import io.dbsemaphore.spi.OwnerLiveness;
import io.dbsemaphore.spi.PermitManager;
import io.dbsemaphore.spi.SemaphoreListener;
import io.dbsemaphore.spi.ShareWeights;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The objects that live from a start of the engine to its stop: its threads, queues and heartbeat. {@link #end} is the orderly
 * shutdown. An ended run is not restarted: the next start creates another one, which registers as another instance.
 *
 * <p>{@code ShutdownIntegrationTests} and {@code RestartIntegrationTests} test it.
 */
final class Run {

    private static final Logger log = LoggerFactory.getLogger(Run.class);

    /** How many of the grants that a shutdown takes from their work the log names. */
    private static final int NAMED = 5;

    /** The maximum number of concurrent tasks of the maintenance, reports of losses, and listeners of releases in the background. */
    private static final int MAX_LISTENERS = 4;

    private static final Duration END_THREADS_AFTER = Duration.ofSeconds(10);

    private static final Duration APPLICATION_TIMEOUT = Duration.ofSeconds(2);

    /** How long the shutdown waits for each task of the database. */
    private static final Duration DATABASE_TIMEOUT = Duration.ofSeconds(10);

    private final ScheduledThreadPoolExecutor scheduler;
    /** Threads for code of the application, and for work that may wait for it. */
    final ThreadPoolExecutor applicationThreads;

    /** Threads of that pool that completions cannot use up. */
    private final Executor listenerThreads;

    private final SemaphoreSettings settings;
    private final ListenerNotifier listeners;
    private final GrantHandle.Operations operations;
    final EngineDatabase database;
    final GrantRegistry held;
    final Retries retry;
    private final BackgroundReleaser background;
    final KeepAlive keepAlive;
    final GroupCommit commit;
    final Weights weights;
    final AcquireFactory acquireFactory;
    final ReleaseService releases;
    final Quotas quotas;
    final PatternCapacities patternCapacities;
    private final ProvidedCapacities capacities;
    final PatternSemaphoreCreator patterns;
    final AcquireService acquires;
    final FirstHolders firstHolders;
    final DatabaseSemaphoreMaintenance maintenance;
    private boolean maintained;

    record Configuration(
            SemaphoreSettings settings,
            ListenerNotifier listeners,
            Supplier<List<OwnerLiveness>> ownerLiveness,
            Supplier<@Nullable List<CapacityProvider>> capacityProviders,
            Supplier<@Nullable ShareWeights> shareWeights) {

        Configuration {
            settings = settings.requireConsistent();
        }
    }

    /**
     * Creates a run.
     *
     * @param held the grants that this JVM holds, including those of earlier runs
     * @param permits the manager of the engine
     * @param admin the operations for administrators of the engine
     * @param operations the operations of the engine, to which handles delegate, since they outlive their run
     */
    Run(
            Configuration configuration,
            EngineDatabase database,
            GrantRegistry held,
            PermitManager permits,
            SemaphoreAdmin admin,
            GrantHandle.Operations operations) {
        DaemonThreads threads = new DaemonThreads();
        scheduler = threads.scheduler("semaphore-scheduler");
        applicationThreads = threads.cachedPool("semaphore-application", END_THREADS_AFTER);
        listenerThreads = new LimitedExecutor(applicationThreads, MAX_LISTENERS);
        settings = configuration.settings();
        listeners = configuration.listeners();
        this.operations = operations;
        this.database = database;
        this.held = held;
        SemaphorePersistence persistence = database.persistence();
        Executor databaseThreads = database.threads();
        retry = new Retries(
                settings.get(SemaphoreSettings.MAX_ATTEMPTS),
                database.lockWait(),
                failure -> listeners.tell(listener -> listener.retried(new SemaphoreListener.Retried(failure))));
        background = new BackgroundReleaser(persistence.undoing(), scheduler, databaseThreads);
        InstanceLease lease = new InstanceLease(
                persistence.holds(),
                settings.get(SemaphoreSettings.OWNER),
                settings.get(SemaphoreSettings.INSTANCE_TIMEOUT));
        keepAlive = new KeepAlive(
                new KeepAlive.Collaborators(
                        database.sessions(),
                        persistence.holds(),
                        lease,
                        held,
                        lost -> listeners.tell(listener -> listener.lost(new SemaphoreListener.Lost(lost))),
                        listenerThreads,
                        settings.get(SemaphoreSettings.KEEP_ALIVE_INTERVAL),
                        settings.get(SemaphoreSettings.LEAK_DETECTION_THRESHOLD)),
                threads);
        acquireFactory = new AcquireFactory(settings, lease);
        weights = new Weights(settings.get(SemaphoreSettings.WEIGHTS), configuration.shareWeights());
        commit = new GroupCommit(
                new GroupCommit.Collaborators(
                        persistence.batches(),
                        persistence.availabilityTransactions(),
                        keepAlive::prepare,
                        background,
                        new Observer(),
                        new OwnLines(
                                        lease::id,
                                        settings.get(SemaphoreSettings.OWNER),
                                        settings.get(SemaphoreSettings.FAIR)::of)
                                .withMaxWaiting(
                                        settings.get(SemaphoreSettings.MAX_WAITING)::of,
                                        keepsNewest(settings.get(SemaphoreSettings.ON_FULL)))
                                .withMaxPerShare(settings.get(SemaphoreSettings.MAX_WAITING_PER_SHARE)::of)
                                .withWeights(weights)
                                .withReuse(name -> !settings.get(SemaphoreSettings.REUSE)
                                        .of(name)
                                        .isZero()),
                        threads,
                        scheduler,
                        database.threads(),
                        // separate: every failed transaction may be an event, and reports of losses must not wait for
                        // these
                        new LimitedExecutor(applicationThreads, 1),
                        database.channel()),
                limits(),
                database.certifiesWrites());
        releases = new ReleaseService(
                database, retry, commit, background, held, keepAlive, listeners, listenerThreads, operations);
        quotas = new Quotas(new Quotas.Collaborators(
                settings,
                persistence.availabilityTransactions(),
                commit,
                keepAlive,
                lease,
                releases,
                operations,
                scheduler,
                databaseThreads));
        patternCapacities = new PatternCapacities(settings, persistence.admin(), retry, commit);
        capacities = new ProvidedCapacities(
                configuration.capacityProviders(), settings, patternCapacities, scheduler, applicationThreads);
        patterns = new PatternSemaphoreCreator(settings, persistence.admin(), retry, capacities, databaseThreads);
        acquires = new AcquireService(new AcquireService.Collaborators(
                settings.get(SemaphoreSettings.DECISION_TIMEOUT),
                acquireFactory,
                weights,
                commit,
                background,
                held,
                keepAlive,
                quotas,
                patterns,
                releases,
                listeners,
                operations,
                scheduler,
                applicationThreads));
        firstHolders = new FirstHolders(persistence.admin(), databaseThreads);
        maintenance = new DatabaseSemaphoreMaintenance(new DatabaseSemaphoreMaintenance.Collaborators(
                settings,
                persistence.maintenance(),
                retry,
                listeners,
                commit,
                permits,
                admin,
                new DeadOwners(configuration.ownerLiveness(), settings.get(MaintenanceSettings.OWNER_GRACE)),
                capacities));
    }

    private BatchLimits limits() {
        return new BatchLimits(
                Math.max(
                        1,
                        settings.get(SemaphoreSettings.MAX_CONNECTIONS) / 2), // leaves some for other kinds of batches
                settings.get(SemaphoreSettings.MAX_BATCH_SIZE),
                settings.get(SemaphoreSettings.MAX_ATTEMPTS),
                database.lockWait(),
                settings.get(SemaphoreSettings.DECISION_TIMEOUT));
    }

    /** Passes the results of batches on, also to the quotas, which use the queue themselves. No batch begins before the run is complete. */
    private final class Observer implements BatchObserver {

        @Override
        public void waiting(Set<String> names) {
            quotas.serveWaiting(names);
        }

        @Override
        public void committed(Map<String, RemainingAvailability> availability) {
            quotas.observe(availability);
            availability.forEach((name, each) -> {
                ShareTags tags = each.tags();
                if (tags != null) {
                    tags.known().forEach(share -> weights.refresh(name, share.path()));
                    weights.compare(name, each.elsewhere().weights());
                }
            });
        }

        @Override
        public void tell(Consumer<SemaphoreListener> event) {
            listeners.tell(event);
        }
    }

    /**
     * Starts the threads. One of them is for code of the application; more are added while that blocks.
     *
     * @throws OutOfMemoryError if the system has no more threads
     */
    void start() {
        database.threads().start();
        commit.start();
        keepAlive.start();
        held.all().stream()
                .filter(HeldGrant::outlivesShutdown)
                .forEach(state -> keepAlive.watch(new GrantHandle(state, true, operations)));
        scheduler.prestartAllCoreThreads();
        applicationThreads.prestartAllCoreThreads();
    }

    void startMaintenance() {
        if (!maintained) {
            maintained = true;
            maintenance.schedule((first, interval, task) -> every(first, interval, listenerThreads, task));
        }
    }

    /** Runs a task at this interval, unless its last run is still under way, until it is cancelled or the run ends. */
    ScheduledFuture<?> every(Duration first, Duration interval, Executor threads, Runnable task) {
        AtomicBoolean underWay = new AtomicBoolean();
        Runnable begin = () -> {
            if (underWay.compareAndSet(false, true)) {
                CompletableFuture<?> unused = CompletableFuture.completedFuture(true)
                        .thenRunAsync(task, threads) // fails if there is no thread for it
                        .whenComplete((done, failure) -> {
                            underWay.set(false);
                            if (failure != null) {
                                UnexpectedErrors.log(log, "A task that is repeated", failure);
                            }
                        });
            }
        };
        return scheduler.scheduleWithFixedDelay(begin, first.toNanos(), interval.toNanos(), TimeUnit.NANOSECONDS);
    }

    /**
     * Ends this run: no further acquires are granted, work in progress may complete within a limited time, and grants that are
     * still held then are released. Takes a limited time even if the database is unavailable. Grants without a time to live, and
     * those whose request says so, outlive the JVM.
     */
    void end() {
        maintenance.close();
        try {
            releaseRest(awaitWork());
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            database.threads().execute(keepAlive::deregister); // unbinds grants that outlive the shutdown
            log.warn("The shutdown was interrupted; permits that are still held become available after"
                    + " semaphore.instance-timeout, or when their TTL has passed");
        } finally {
            keepAlive.close();
        }
        commit.stopAcquires();
        capacities.close();
        background.close();
        database.threads().stop();
        scheduler.shutdown(); // rejects deadlines, which ends acquires that are still in progress
        endApplicationThreads(Deadline.in(APPLICATION_TIMEOUT));
    }

    /** Waits for code of the application that is running, such as a listener, for a limited time. */
    private void endApplicationThreads(Deadline until) {
        acquires.deliverAll(); // completes the futures of callers that the shutdown has refused
        applicationThreads.shutdown();
        try {
            if (!applicationThreads.awaitTermination(until.remainingNanos(), TimeUnit.NANOSECONDS)) {
                log.warn("Application code that the semaphores called, such as a SemaphoreListener, has not returned at"
                        + " shutdown");
            }
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for work. Returns the grants of work that was not awaited, since it waits for this shutdown itself. */
    private Set<HeldGrant> awaitWork() throws InterruptedException {
        quotas.close();
        commit.stopAcquires(); // waiting callers get an exception
        capacities.close(); // callers that wait for a capacity, too
        if (!acquires.awaitNone(DATABASE_TIMEOUT)) {
            log.warn(
                    "Some acquires were still in progress after {}; their permits become available when their TTL has passed",
                    DATABASE_TIMEOUT);
        }
        return held.awaitNoWork(Deadline.in(settings.get(SemaphoreSettings.SHUTDOWN_TIMEOUT)));
    }

    private void releaseRest(Set<HeldGrant> unawaited) throws InterruptedException {
        Deadline until = Deadline.in(DATABASE_TIMEOUT);
        List<HeldGrant> rest =
                held.all().stream().filter(state -> !state.outlivesShutdown()).toList();
        List<GrantHandle> inUse = new ArrayList<>();
        CompletableFuture<?>[] released = rest.stream()
                .map(state -> {
                    boolean works = state.isForWork() && state.isHeld();
                    GrantHandle user = quotas.user(state);
                    if (works && user != null) {
                        inUse.add(user);
                        return releases.giveBack(state, listener -> listener.lost(new SemaphoreListener.Lost(user)));
                    }
                    return releases.giveBack(
                            state, releases.eventOf(user == null ? new GrantHandle(state, true, operations) : user));
                })
                .toArray(CompletableFuture[]::new);
        CompletableFuture<?> all = CompletableFuture.allOf(released)
                .whenCompleteAsync((done, failure) -> keepAlive.deregister(), database.threads());
        if (!quotas.awaitReturns(until)) {
            log.warn(
                    "Some idle permits were not returned within {}; they become available after"
                            + " semaphore.instance-timeout, or when their TTL has passed",
                    DATABASE_TIMEOUT);
        }
        @Nullable Exception cause = null;
        try {
            all.get(until.remainingNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException | ExecutionException failure) {
            cause = failure;
        }
        long left = rest.stream().filter(state -> !state.isReleased()).count();
        List<GrantHandle> taken = new ArrayList<>(inUse);
        taken.removeIf(user -> !user.state().isReleased());
        List<GrantHandle> ending =
                taken.stream().filter(user -> unawaited.contains(user.state())).toList();
        List<GrantHandle> late = new ArrayList<>(taken);
        late.removeAll(ending);
        if (!ending.isEmpty()) {
            log.warn(
                    "{} grant(s) were lost because their own work shut the application down, such as {}. The rest of the"
                            + " work no longer counts against the limit. Call System.exit or close the application context"
                            + " after the work",
                    ending.size(),
                    named(ending));
        }
        if (!late.isEmpty()) {
            log.warn(
                    "{} grant(s) still held at shutdown were lost after semaphore.shutdown-timeout ({}), such as {}. If"
                            + " their work still runs, it no longer counts against the limit. Raise"
                            + " semaphore.shutdown-timeout, shorten the work, or acquire with releaseAtShutdown = false",
                    late.size(),
                    settings.get(SemaphoreSettings.SHUTDOWN_TIMEOUT),
                    named(late));
        }
        if (rest.size() - left > taken.size()) {
            log.info(
                    "Released {} grant(s) at shutdown without known work in progress",
                    rest.size() - left - taken.size());
        }
        boolean gone = cause != null
                && (SqlErrors.is(cause, SqlErrorKind.MISSING_TABLE)
                        || SqlErrors.is(cause, SqlErrorKind.MISSING_SCHEMA));
        int lost = gone ? background.abandon() : 0;
        if (lost > 0) {
            log.warn(
                    "The tables of the semaphores were gone at shutdown, for example because devtools shut down an H2"
                            + " database in memory: {} grant(s) were lost with them",
                    lost);
        } else if (left > 0) {
            log.warn(
                    "{} grant(s) could not be released at shutdown; their permits become available when their TTL has passed",
                    left,
                    cause);
        }
    }

    /** A predicate that costs nothing where the setting is not used. */
    private static Predicate<String> keepsNewest(PerSemaphore<OnFull> onFull) {
        return onFull.values().contains(OnFull.KEEP_NEWEST)
                ? name -> onFull.of(name) == OnFull.KEEP_NEWEST
                : name -> false;
    }

    private static List<String> named(List<GrantHandle> grants) {
        return grants.stream()
                .limit(NAMED)
                .map(grant ->
                        grant + " for " + Duration.ofMillis(grant.heldFor().toMillis()))
                .toList();
    }
}
