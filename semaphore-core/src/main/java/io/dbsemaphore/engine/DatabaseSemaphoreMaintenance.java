package io.dbsemaphore.engine;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreMaintenance;
import io.dbsemaphore.admin.SemaphoreMaintenance.MaintenanceTask;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.config.Setting;
import io.dbsemaphore.domain.ReclaimedRequest;
import io.dbsemaphore.engine.batch.DeadInstanceLog;
import io.dbsemaphore.engine.batch.GroupCommit;
import io.dbsemaphore.persistence.MaintenanceTransactions;
import io.dbsemaphore.persistence.ReclaimReason;
import io.dbsemaphore.persistence.unit.Retries;
import io.dbsemaphore.spi.PermitManager;
import io.dbsemaphore.spi.PermitManager.AcquireResult;
import io.dbsemaphore.spi.SemaphoreListener;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import java.util.function.LongFunction;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The maintenance. A semaphore of the library lets one instance at a time run it, and an instance runs one task at a time. Once
 * {@linkplain #schedule scheduled}, it runs periodically, and knows which tasks are {@linkplain #overdue overdue}.
 */
final class DatabaseSemaphoreMaintenance implements SemaphoreMaintenance, AutoCloseable {

    static final String SEMAPHORE = "dbsemaphore.maintenance";

    private static final Logger log = LoggerFactory.getLogger(DatabaseSemaphoreMaintenance.class);
    /** Limited, because a hanging task must not block the other instances for ever. Two tasks at the same time do no harm. */
    private static final Duration MAX_HOLD = Duration.ofMinutes(30);

    private static final Duration FORGET_WAITERS_AFTER = Duration.ofMinutes(1);
    private static final Duration FORGET_INSTANCES_AFTER = Duration.ofDays(1);

    /** The first runs of instances that start at the same time are spread over this time. */
    private static final Duration FIRST_WITHIN = Duration.ofMinutes(5);

    /** A task that has not completed for this many of its intervals is overdue. */
    private static final int INTERVALS = 3;
    /** No task is overdue before this time, because a slow database may not keep up with a short interval. */
    private static final Duration AT_LEAST = Duration.ofMinutes(1);

    private static final String OVERDUE = """
            The %s has not completed on this instance for %s, although %s is %s. Look for the warning 'The %1$s failed' in \
            the log, and find out what blocks the threads semaphore-application-N""";

    private static final Task ORPHAN_RELEASE =
            new Task(MaintenanceTask.ORPHAN_RELEASE, "release of orphans", MaintenanceSettings.ORPHAN_RELEASE_INTERVAL);
    private static final Task REQUEST_CLEANUP = new Task(
            MaintenanceTask.REQUEST_CLEANUP, "clean-up of requests", MaintenanceSettings.REQUEST_CLEANUP_INTERVAL);
    private static final Task HISTORY_CLEANUP = new Task(
            MaintenanceTask.HISTORY_CLEANUP, "clean-up of the audit", MaintenanceSettings.HISTORY_CLEANUP_INTERVAL);

    private final Collaborators with;
    private final MaintenanceTransactions transactions;
    private final int batchSize;
    private final ReentrantLock oneAtATime = new ReentrantLock();
    private volatile boolean closed;

    /** When each scheduled task was last completed on this instance, by any caller; before that, when it was scheduled. */
    final Map<Task, Long> doneAt = new ConcurrentHashMap<>();

    record Task(MaintenanceTask kind, String name, Setting<Duration> interval) {}

    /**
     * The collaborators of the maintenance.
     *
     * @param permits acquires the semaphore of the maintenance
     * @param admin creates that semaphore
     */
    record Collaborators(
            SemaphoreSettings settings,
            MaintenanceTransactions transactions,
            Retries retry,
            ListenerNotifier listeners,
            GroupCommit commit,
            PermitManager permits,
            SemaphoreAdmin admin,
            DeadOwners deadOwners,
            ProvidedCapacities capacities) {}

    /** Runs a task periodically. */
    interface Timer {
        @CanIgnoreReturnValue
        ScheduledFuture<?> every(Duration first, Duration interval, Runnable task);
    }

    /** Creates a maintenance that is not scheduled yet. */
    DatabaseSemaphoreMaintenance(Collaborators with) {
        this.with = with;
        this.transactions = with.transactions();
        this.batchSize = with.settings().get(MaintenanceSettings.BATCH_SIZE);
    }

    /** Runs the maintenance periodically, if it is enabled. */
    void schedule(Timer timer) {
        if (with.settings().get(MaintenanceSettings.ENABLED)) {
            schedule(ORPHAN_RELEASE, this::releaseOrphans, timer);
            schedule(REQUEST_CLEANUP, this::deleteReleasedRequests, timer);
            schedule(HISTORY_CLEANUP, this::deleteCapacityHistory, timer);
        }
    }

    private void schedule(Task task, IntSupplier work, Timer timer) {
        long millis = with.settings().get(task.interval()).toMillis();
        // soon, because instances may be restarted often; at random, so that not all begin together
        long first = ThreadLocalRandom.current().nextLong(Math.min(millis, FIRST_WITHIN.toMillis()) + 1);
        doneAt.put(task, System.nanoTime());
        timer.every(Duration.ofMillis(first), Duration.ofMillis(millis), () -> run(task.name(), work));
    }

    private void run(String name, IntSupplier task) {
        oneAtATime.lock();
        try {
            if (!closed) {
                log.debug("The {} is done: {}", name, task.getAsInt());
            }
        } catch (RuntimeException failure) {
            if (!closed) {
                log.warn("The {} failed, and is retried when it is due again", name, failure);
            }
        } finally {
            oneAtATime.unlock();
        }
    }

    /**
     * Finds a scheduled task that was not completed in time on this instance.
     *
     * @param now the current {@link System#nanoTime}
     * @return the overdue task, and what to do about it; empty if there is none
     */
    Optional<String> overdue(long now) {
        return Stream.of(ORPHAN_RELEASE, REQUEST_CLEANUP, HISTORY_CLEANUP)
                .flatMap(task -> overdue(task, now).stream())
                .findFirst();
    }

    private Optional<String> overdue(Task task, long now) {
        Duration interval = with.settings().get(task.interval());
        Duration allowed = Collections.max(List.of(interval.multipliedBy(INTERVALS), AT_LEAST));
        Duration since = Duration.ofNanos(now - doneAt.getOrDefault(task, now)).truncatedTo(ChronoUnit.SECONDS);
        return since.compareTo(allowed) > 0
                ? Optional.of(
                        OVERDUE.formatted(task.name(), since, task.interval().property(), interval))
                : Optional.empty();
    }

    /** Ends a running task after its current transaction. Another instance, or the next start, does the rest. */
    @Override
    public void close() {
        closed = true;
    }

    @Override
    public int releaseOrphans() {
        return exclusively(ORPHAN_RELEASE, () -> {
            int released = releaseAll(ReclaimReason.expired());
            if (!isStopped()) {
                released += with.retry()
                        .call(transactions::findDeadInstances)
                        .map(this::releaseAll)
                        .orElse(0);
            }
            Duration staleAfter = with.settings().get(MaintenanceSettings.STALE_AFTER);
            if (!staleAfter.isZero()) {
                released += releaseAll(ReclaimReason.stale(staleAfter));
            }
            if (with.deadOwners().hasChecks() && !isStopped()) {
                for (ReclaimReason dead : with.deadOwners().among(with.retry().call(transactions::findOwners))) {
                    released += releaseAll(dead);
                }
            }
            repair();
            all(() -> transactions.deleteExpiredWaiters(FORGET_WAITERS_AFTER, batchSize));
            with.capacities().apply(this::isStopped); // last, because providers may be slow
            return released;
        });
    }

    @Override
    public int deleteReleasedRequests() {
        return exclusively(REQUEST_CLEANUP, () -> {
            Duration retention = with.settings().get(MaintenanceSettings.REQUEST_RETENTION);
            int deleted = all(() -> transactions.deleteReleased(retention, batchSize));
            all(() -> transactions.deleteReclaims(retention, batchSize));
            deleteIdleOfPatterns();
            all(() -> transactions.deleteOldShares(batchSize));
            all(() -> transactions.deleteExpiredInstances(FORGET_INSTANCES_AFTER));
            return deleted;
        });
    }

    @Override
    public int deleteCapacityHistory() {
        Duration retention = with.settings().get(MaintenanceSettings.HISTORY_RETENTION);
        return exclusively(HISTORY_CLEANUP, () -> all(() -> transactions.deleteHistory(retention, batchSize)));
    }

    private void repair() {
        int permits = inBatches(
                transactions::findSemaphores, 1, some -> all(() -> transactions.repairHalfReleased(some, batchSize)));
        if (permits > 0) {
            with.commit().pollNow();
            log.warn(
                    "Released {} permit(s) of requests that had already been released. No transaction of this library"
                            + " leaves such permits: something else writes to its tables",
                    permits);
        }
    }

    private void deleteIdleOfPatterns() {
        Duration idleFor = with.settings().get(MaintenanceSettings.PATTERN_IDLE_AFTER);
        int deleted = inBatches(
                after -> transactions.findIdleOfPatterns(idleFor, after),
                1,
                some -> with.retry().call(() -> transactions.deleteIdleOfPatterns(some, idleFor)));
        if (deleted > 0) {
            log.info("Removed {} semaphore(s) that were created by patterns and are no longer used", deleted);
        }
    }

    /** Releases in two passes: two concurrent sweeps may both skip a request, each because the other has locked it. */
    private int releaseAll(ReclaimReason reason) {
        List<ReclaimedRequest> released = new ArrayList<>();
        int skipped = pass(reason, released);
        if (skipped > 0 && !isStopped()) {
            pass(reason, released);
        }
        if (!released.isEmpty()) {
            with.commit().pollNow();
            log.info("Released {} orphaned request(s): {}", released.size(), reason);
            DeadInstanceLog.warn(released);
        }
        return released.size();
    }

    /**
     * Releases batch after batch, each in a transaction of its own.
     *
     * @param released receives the released requests
     * @return the number of candidates that were skipped because other transactions had locked them
     */
    private int pass(ReclaimReason reason, List<ReclaimedRequest> released) {
        return inBatches(after -> transactions.find(reason, after, batchSize), batchSize, batch -> {
            List<ReclaimedRequest> taken = with.retry().call(() -> transactions.release(batch, reason));
            taken.forEach(each -> with.listeners()
                    .tell(listener ->
                            listener.expired(new SemaphoreListener.Expired(each.externalId(), each.permits()))));
            released.addAll(taken);
            return batch.size() - taken.size();
        });
    }

    /**
     * Works on candidates batch after batch, in the order of their keys.
     *
     * @param full a batch with fewer candidates is the last one
     * @return the sum of the results of the work
     */
    private int inBatches(LongFunction<List<Long>> candidatesAfter, int full, ToIntFunction<List<Long>> work) {
        int sum = 0;
        List<Long> candidates = next(candidatesAfter, 0);
        while (!candidates.isEmpty()) {
            sum += work.applyAsInt(candidates);
            candidates =
                    candidates.size() < full ? List.of() : next(candidatesAfter, candidates.get(candidates.size() - 1));
        }
        return sum;
    }

    private List<Long> next(LongFunction<List<Long>> candidatesAfter, long key) {
        return isStopped() ? List.of() : with.retry().call(() -> candidatesAfter.apply(key));
    }

    private boolean isStopped() {
        return closed || Thread.currentThread().isInterrupted();
    }

    /** Deletes batch after batch, each in a transaction of its own, until one is not full. */
    private int all(IntSupplier batch) {
        int deleted = 0;
        int last = batchSize;
        while (last >= batchSize && !isStopped()) {
            last = with.retry().call(batch::getAsInt);
            deleted += last;
        }
        return deleted;
    }

    private int exclusively(Task task, IntSupplier work) {
        if (closed) {
            throw new SemaphoreClosedException();
        }
        AcquireRequest request =
                AcquireRequest.of(SEMAPHORE).withMaxHold(MAX_HOLD).withWaitTime(Duration.ZERO);
        if (with.admin().find(SEMAPHORE).isEmpty()) {
            with.admin().create(SEMAPHORE, 1);
        }
        int done = 0;
        if (with.permits().acquireForWork(request) instanceof AcquireResult.Granted granted) {
            try (PermitGrant grant = granted.grant()) {
                done = work.getAsInt();
            }
        } else {
            log.debug("Another instance runs the maintenance");
        }
        doneAt.replace(task, System.nanoTime());
        SemaphoreListener.Maintained event = new SemaphoreListener.Maintained(task.kind(), done);
        with.listeners().tell(listener -> listener.maintained(event));
        return done;
    }
}
