package io.dbsemaphore.engine;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.engine.hold.GrantHandle;
import io.dbsemaphore.engine.hold.GrantRegistry;
import io.dbsemaphore.engine.hold.HeldGrant;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.jdbc.SqlErrorKind;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.spi.PermitManager;
import io.dbsemaphore.spi.SemaphoreListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The objects that live from a start of the engine to its stop: its threads, queues and heartbeat. {@link #end} is the orderly
 * shutdown. An ended run is not restarted: the next start creates another one, which registers as another instance.
 */
final class Run extends RunContext {

    private static final Logger log = LoggerFactory.getLogger(Run.class);

    /** How many of the grants that a shutdown takes from their work the log names. */
    private static final int NAMED = 5;

    private static final Duration APPLICATION_TIMEOUT = Duration.ofSeconds(2);

    /** How long the shutdown waits for each task of the database. */
    private static final Duration DATABASE_TIMEOUT = Duration.ofSeconds(10);

    final AcquireService acquires;
    final ReleaseService releases;
    final Quotas quotas;
    final PatternSemaphoreCreator patterns;
    final FirstHolders firstHolders;
    final DatabaseSemaphoreMaintenance maintenance;
    private final ProvidedCapacities capacities;
    private boolean maintained;

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
        super(configuration, database, held, operations);
        releases = new ReleaseService(this);
        quotas = new Quotas(this, releases);
        capacities = new ProvidedCapacities(this, configuration.capacityProviders());
        patterns = new PatternSemaphoreCreator(this, capacities);
        acquires = new AcquireService(this, patterns, quotas, releases);
        firstHolders = new FirstHolders(this);
        maintenance = new DatabaseSemaphoreMaintenance(
                this,
                permits,
                admin,
                new DeadOwners(configuration.ownerLiveness(), settings.get(MaintenanceSettings.OWNER_GRACE)),
                capacities);
    }

    /**
     * Starts the threads. One of them is for code of the application; more are added while that blocks.
     *
     * @throws OutOfMemoryError if the system has no more threads
     */
    void start() {
        databaseThreads().start();
        commit.start();
        keepAlive.start();
        held.all().stream()
                .filter(HeldGrant::outlivesShutdown)
                .forEach(state -> keepAlive.watch(new GrantHandle(state, true, operations)));
        int unused = scheduler.prestartAllCoreThreads() + applicationThreads.prestartAllCoreThreads();
    }

    @Override
    public void waiting(Set<String> names) {
        quotas.serveWaiting(names);
    }

    @Override
    public void committed(Map<String, RemainingAvailability> availability) {
        quotas.observe(availability);
    }

    void startMaintenance() {
        if (!maintained) {
            maintained = true;
            maintenance.schedule();
        }
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
            databaseThreads().execute(keepAlive::deregister); // unbinds grants that outlive the shutdown
            log.warn("The shutdown was interrupted; permits that are still held become available after"
                    + " semaphore.instance-timeout, or when their TTL has passed");
        } finally {
            keepAlive.close();
        }
        commit.stopAcquires();
        capacities.close();
        background.close();
        databaseThreads().stop();
        scheduler.shutdown(); // rejects deadlines, which ends acquires that are still in progress
        endApplicationThreads(Deadline.in(APPLICATION_TIMEOUT));
    }

    /** Waits for code of the application that is running, such as a listener, for a limited time. */
    private void endApplicationThreads(Deadline until) {
        completions.relieve(Duration.ZERO); // completes the futures of callers that the shutdown has refused
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
                    GrantHandle user = state.isForWork() && state.isHeld() ? quotas.user(state) : null;
                    Stream.ofNullable(user).forEach(inUse::add);
                    return releases.giveBack(
                            state,
                            user == null
                                    ? quotas.eventOf(state)
                                    : listener -> listener.lost(new SemaphoreListener.Lost(user)));
                })
                .toArray(CompletableFuture[]::new);
        CompletableFuture<?> all = CompletableFuture.allOf(released)
                .whenCompleteAsync((done, failure) -> keepAlive.deregister(), databaseThreads());
        if (!quotas.awaitReturns(until)) {
            log.warn(
                    "Some idle permits were not returned within {}; they become available after"
                            + " semaphore.instance-timeout, or when their TTL has passed",
                    DATABASE_TIMEOUT);
        }
        @Nullable Exception cause = null;
        try {
            @Nullable Object unused = all.get(until.remainingNanos(), TimeUnit.NANOSECONDS);
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

    private static List<String> named(List<GrantHandle> grants) {
        return grants.stream()
                .limit(NAMED)
                .map(grant ->
                        grant + " for " + Duration.ofMillis(grant.heldFor().toMillis()))
                .toList();
    }
}
