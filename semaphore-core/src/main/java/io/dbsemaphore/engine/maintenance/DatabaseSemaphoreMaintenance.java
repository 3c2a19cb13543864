package io.dbsemaphore.engine.maintenance;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.AcquireResult;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitManager;
import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.SemaphoreMaintenance;
import io.dbsemaphore.SemaphoreMaintenance.MaintenanceTask;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.domain.ReclaimReason;
import io.dbsemaphore.domain.ReclaimedRequest;
import io.dbsemaphore.engine.support.DeadInstanceLog;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.engine.support.Retries;
import io.dbsemaphore.persistence.MaintenanceTransactions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import java.util.function.LongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The maintenance: of all instances one works at a time, under a permit of a semaphore of the library's own. */
public final class DatabaseSemaphoreMaintenance implements SemaphoreMaintenance {

    /** The semaphore under which the maintenance works. */
    public static final String SEMAPHORE = "dbsemaphore.maintenance";

    private static final Logger log = LoggerFactory.getLogger(DatabaseSemaphoreMaintenance.class);
    private static final Duration TTL = Duration.ofSeconds(30);
    /** One that hangs must not keep the others from working for ever; two at work do no harm. */
    private static final Duration MAX_HOLD = Duration.ofMinutes(30);

    private static final Duration FORGET_INSTANCES_AFTER = Duration.ofDays(1);

    private final SemaphoreSettings settings;
    private final MaintenanceTransactions transactions;
    private final PermitManager permits;
    private final SemaphoreAdmin admin;
    private final DeadOwners deadOwners;
    private final Retries retry;
    private final ListenerNotifier listeners;
    private final Runnable permitsFreed;

    public DatabaseSemaphoreMaintenance(
            SemaphoreSettings settings,
            MaintenanceTransactions transactions,
            PermitManager permits,
            SemaphoreAdmin admin,
            DeadOwners deadOwners,
            Retries retry,
            ListenerNotifier listeners,
            Runnable permitsFreed) {
        this.settings = settings;
        this.transactions = transactions;
        this.permits = permits;
        this.admin = admin;
        this.deadOwners = deadOwners;
        this.retry = retry;
        this.listeners = listeners;
        this.permitsFreed = permitsFreed;
    }

    @Override
    public int releaseOrphans() {
        return isolated(MaintenanceTask.ORPHAN_RELEASE, () -> {
            int batch = settings.get(MaintenanceSettings.BATCH_SIZE);
            int released = releaseAll(after -> transactions.findExpired(after, batch), new ReclaimReason.Expired());
            released += releaseAll(
                    after -> transactions.findOfDeadInstances(after, batch), new ReclaimReason.InstanceGone());
            if (!settings.get(MaintenanceSettings.STALE_AFTER).isZero()) {
                released += releaseAll(
                        after -> transactions.findStale(settings.get(MaintenanceSettings.STALE_AFTER), after, batch),
                        new ReclaimReason.Stale(
                                settings.get(MaintenanceSettings.STALE_AFTER).toMillis()));
            }
            if (deadOwners.canTell()) {
                for (ReclaimReason.OwnerDead dead : deadOwners.among(retry.call(transactions::findOwners))) {
                    released += releaseAll(after -> transactions.findOfOwner(dead, after, batch), dead);
                }
            }
            repair();
            return released;
        });
    }

    @Override
    public int deleteReleasedRequests() {
        return isolated(MaintenanceTask.REQUEST_CLEANUP, () -> {
            AtomicInteger repaired = new AtomicInteger();
            int deleted = all(() -> {
                MaintenanceTransactions.CleanUp batch = transactions.deleteReleased(
                        settings.get(MaintenanceSettings.REQUEST_RETENTION),
                        settings.get(MaintenanceSettings.BATCH_SIZE));
                repaired.addAndGet(batch.repairedPermits());
                return batch.requests();
            });
            warnOfRepairs(repaired.get());
            deleteIdleOfPatterns();
            retry.call(() -> transactions.deleteExpiredInstances(FORGET_INSTANCES_AFTER));
            return deleted;
        });
    }

    @Override
    public int deleteCapacityHistory() {
        return isolated(
                MaintenanceTask.HISTORY_CLEANUP,
                () -> all(() -> transactions.deleteHistory(
                        settings.get(MaintenanceSettings.HISTORY_RETENTION),
                        settings.get(MaintenanceSettings.BATCH_SIZE))));
    }

    private void repair() {
        int repaired = 0;
        List<Long> semaphores = retry.call(() -> transactions.findSemaphores(0));
        while (!semaphores.isEmpty()) {
            List<Long> some = semaphores;
            repaired += all(() -> transactions.repairHalfReleased(some, settings.get(MaintenanceSettings.BATCH_SIZE)));
            semaphores = isStopped() ? List.of() : retry.call(() -> transactions.findSemaphores(last(some)));
        }
        warnOfRepairs(repaired);
    }

    private void warnOfRepairs(int permits) {
        if (permits > 0) {
            permitsFreed.run();
            log.warn(
                    "Freed {} permit(s) whose request was released already. No transaction of this library leaves such"
                            + " behind: something else writes to its tables",
                    permits);
        }
    }

    private void deleteIdleOfPatterns() {
        Duration idleFor = settings.get(MaintenanceSettings.PATTERN_IDLE_AFTER);
        int deleted = 0;
        List<Long> candidates = retry.call(() -> transactions.findIdleOfPatterns(idleFor, 0));
        while (!candidates.isEmpty()) {
            List<Long> some = candidates;
            deleted += retry.call(() -> transactions.deleteIdleOfPatterns(some, idleFor));
            candidates =
                    isStopped() ? List.of() : retry.call(() -> transactions.findIdleOfPatterns(idleFor, last(some)));
        }
        if (deleted > 0) {
            log.info("Removed {} semaphore(s) that patterns had made and nobody uses any more", deleted);
        }
    }

    /** Two sweeps at once may pass over the same request, each since the other has locked it: a second pass finds it. */
    private int releaseAll(LongFunction<List<Long>> candidatesAfter, ReclaimReason reason) {
        List<ReclaimedRequest> released = new ArrayList<>();
        int passedOver = pass(candidatesAfter, reason, released);
        if (passedOver > 0 && !isStopped()) {
            pass(candidatesAfter, reason, released);
        }
        if (!released.isEmpty()) {
            permitsFreed.run();
            log.info("Released {} orphaned request(s): {}", released.size(), reason);
            DeadInstanceLog.warn(released);
        }
        return released.size();
    }

    /**
     * Releases batch after batch, each a transaction of its own, in the order of keys.
     *
     * @param released what was released is added to it
     * @return how many candidates were passed over, since others had them locked
     */
    private int pass(LongFunction<List<Long>> candidatesAfter, ReclaimReason reason, List<ReclaimedRequest> released) {
        int passedOver = 0;
        List<Long> candidates = retry.call(() -> candidatesAfter.apply(0));
        while (!candidates.isEmpty()) {
            List<Long> batch = candidates;
            List<ReclaimedRequest> taken = retry.call(() -> transactions.release(batch, reason));
            taken.forEach(each -> listeners.tell(listener -> listener.expired(each.externalId(), each.permits())));
            released.addAll(taken);
            passedOver += batch.size() - taken.size();
            candidates = batch.size() < settings.get(MaintenanceSettings.BATCH_SIZE) || isStopped()
                    ? List.of()
                    : retry.call(() -> candidatesAfter.apply(last(batch)));
        }
        return passedOver;
    }

    /** Whether the schedule is being closed: what is left is done by another instance, or after the next start. */
    private static boolean isStopped() {
        return Thread.currentThread().isInterrupted();
    }

    /** Deletes batch after batch, each a transaction of its own, until one is not full. */
    private int all(IntSupplier batch) {
        int deleted = 0;
        int last;
        do {
            last = retry.call(batch::getAsInt);
            deleted += last;
        } while (last >= settings.get(MaintenanceSettings.BATCH_SIZE) && !isStopped());
        return deleted;
    }

    private static long last(List<Long> ascending) {
        return ascending.get(ascending.size() - 1);
    }

    private int isolated(MaintenanceTask task, IntSupplier work) {
        int done = isolated(work);
        listeners.tell(listener -> listener.maintained(task, done));
        return done;
    }

    private int isolated(IntSupplier work) {
        AcquireRequest request = AcquireRequest.of(SEMAPHORE).withTtl(TTL).withMaxHold(MAX_HOLD);
        if (admin.find(SEMAPHORE).isEmpty()) {
            admin.create(SEMAPHORE, 1);
        }
        if (!(permits.acquireForWork(request) instanceof AcquireResult.Granted granted)) {
            log.debug("Another instance is at the maintenance");
            return 0;
        }
        try (PermitGrant grant = granted.grant()) {
            return work.getAsInt();
        }
    }
}
