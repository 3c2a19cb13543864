package io.dbsemaphore.engine;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.LimitedExecutor;
import io.dbsemaphore.concurrent.UnexpectedErrors;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.batch.BatchLimits;
import io.dbsemaphore.engine.batch.BatchObserver;
import io.dbsemaphore.engine.batch.GroupCommit;
import io.dbsemaphore.engine.hold.GrantHandle;
import io.dbsemaphore.engine.hold.GrantRegistry;
import io.dbsemaphore.engine.hold.InstanceLease;
import io.dbsemaphore.engine.hold.KeepAlive;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.engine.support.Retries;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.line.OwnLines;
import io.dbsemaphore.persistence.SemaphorePersistence;
import io.dbsemaphore.spi.CapacityProvider;
import io.dbsemaphore.spi.OwnerLiveness;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts that the services of a {@link Run} share: settings, threads, the database, the queue, and the grants of this JVM. No batch
 * begins before the run is complete.
 */
abstract class RunContext implements BatchObserver {

    private static final Logger log = LoggerFactory.getLogger(RunContext.class);

    /** The maximum number of concurrent completions of asynchronous acquires, unless they block. The library's own steps have the same. */
    private static final int MAX_COMPLETIONS = 64;

    /** The maximum number of concurrent tasks of the maintenance, reports of losses, and listeners of releases in the background. */
    private static final int MAX_LISTENERS = 4;

    private static final Duration END_THREADS_AFTER = Duration.ofSeconds(10);

    final ScheduledThreadPoolExecutor scheduler;

    /** Threads for code of the application, and for work that may wait for it. */
    final ThreadPoolExecutor applicationThreads;

    /** Threads of that pool that completions cannot use up. */
    final Executor listenerThreads;

    /** Separate, since every failed transaction may be an event, and reports of losses must not wait for these. */
    final Executor retryListenerThreads;

    /** Runs the library's steps between an answer and the result. Separate, so that grants are kept alive before completions wait. */
    final Executor asynchronousSteps;

    final LimitedExecutor completions;
    final SemaphoreSettings settings;
    final EngineDatabase database;
    final SemaphorePersistence persistence;
    final ListenerNotifier listeners;
    final GrantRegistry held;
    /** The operations to which handles delegate. */
    final GrantHandle.Operations operations;

    final Retries retry;
    final BackgroundReleaser background;
    final InstanceLease lease;
    final KeepAlive keepAlive;
    final AcquireFactory acquireFactory;
    final GroupCommit commit;

    record Configuration(
            SemaphoreSettings settings,
            ListenerNotifier listeners,
            Supplier<List<OwnerLiveness>> ownerLiveness,
            Supplier<@Nullable List<CapacityProvider>> capacityProviders) {

        Configuration {
            settings = settings.requireConsistent();
        }
    }

    RunContext(
            Configuration configuration,
            EngineDatabase database,
            GrantRegistry held,
            GrantHandle.Operations operations) {
        DaemonThreads threads = new DaemonThreads();
        scheduler = threads.scheduler("semaphore-scheduler");
        applicationThreads = threads.cachedPool("semaphore-application", END_THREADS_AFTER);
        listenerThreads = new LimitedExecutor(applicationThreads, MAX_LISTENERS);
        retryListenerThreads = new LimitedExecutor(applicationThreads, 1);
        asynchronousSteps = new LimitedExecutor(
                applicationThreads, MAX_COMPLETIONS, "listeners of asynchronous acquires", this::runLater);
        completions = new LimitedExecutor(
                applicationThreads, MAX_COMPLETIONS, "dependent actions of asynchronous acquires", this::runLater);
        settings = configuration.settings();
        listeners = configuration.listeners();
        this.database = database;
        this.held = held;
        this.operations = operations;
        persistence = database.persistence();
        Duration lockWait = settings.get(SemaphoreSettings.LOCK_WAIT_TIMEOUT);
        retry = new Retries(settings.get(SemaphoreSettings.MAX_ATTEMPTS), lockWait, listeners);
        BatchLimits limits = new BatchLimits(
                Math.max(
                        1,
                        settings.get(SemaphoreSettings.MAX_CONNECTIONS) / 2), // leaves some for other kinds of batches
                settings.get(SemaphoreSettings.MAX_BATCH_SIZE),
                settings.get(SemaphoreSettings.MAX_ATTEMPTS),
                lockWait,
                settings.get(SemaphoreSettings.DECISION_TIMEOUT));
        background = new BackgroundReleaser(persistence.undoing(), scheduler, databaseThreads());
        lease = new InstanceLease(
                persistence.holds(),
                settings.get(SemaphoreSettings.OWNER),
                settings.get(SemaphoreSettings.INSTANCE_TIMEOUT));
        keepAlive = new KeepAlive(
                new KeepAlive.Collaborators(
                        database.sessions(),
                        persistence.holds(),
                        lease,
                        held,
                        listeners,
                        listenerThreads,
                        settings.get(SemaphoreSettings.KEEP_ALIVE_INTERVAL),
                        settings.get(SemaphoreSettings.LEAK_DETECTION_THRESHOLD)),
                threads);
        acquireFactory = new AcquireFactory(settings, lease);
        commit = new GroupCommit(
                new GroupCommit.Collaborators(
                        persistence.batches(),
                        persistence.availabilityTransactions(),
                        keepAlive::prepare,
                        background,
                        listeners,
                        this,
                        new OwnLines(
                                lease::id,
                                settings.get(SemaphoreSettings.OWNER),
                                settings.get(SemaphoreSettings.FAIR)::of),
                        threads,
                        scheduler,
                        databaseThreads(),
                        retryListenerThreads,
                        database.channel()),
                limits,
                database.certifiesWrites());
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

    private void runLater(Runnable task) {
        try {
            var unused = scheduler.schedule(task, LimitedExecutor.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException ended) {
            log.debug("The run has ended: tasks wait for those that block", ended);
        }
    }

    /** The threads that may wait for the database. */
    DatabaseThreads databaseThreads() {
        return database.sessions().threads();
    }

    /** Ends a grant of this JVM that is no longer held according to the database. */
    void lose(String externalId) {
        held.find(externalId).ifPresent(state -> keepAlive.lose(new GrantHandle(state, true, operations)));
    }
}
