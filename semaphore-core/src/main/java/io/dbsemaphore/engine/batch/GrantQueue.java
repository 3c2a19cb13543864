package io.dbsemaphore.engine.batch;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantBatch;
import io.dbsemaphore.engine.batch.QueuedAcquire.Place;
import io.dbsemaphore.jdbc.SqlErrors;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;

/**
 * The acquires of this JVM that are to be decided, and whose turn it is: a queue of those that are ready to be tried, in the
 * order in which they came; the semaphores with a batch in flight; and the wait queues of those for which too few permits were
 * available. All state is guarded by one lock, under which there is neither input nor output nor any code of a caller.
 */
final class GrantQueue {

    /** So many that name the same are tried once more at their deadline; a batch after the next would come too late. */
    static final int MAX_LAST_ATTEMPTS = 500;

    private final QueueLock lock = new QueueLock();
    private final BatchLimits limits;
    private final Contention contention;
    private final QueueClock clock;
    private final ReadyQueue ready;
    private final InFlightNames inFlight;
    private final HandoverPauses pauses;
    private final ConflictBackOff backOff;
    private final WaitQueues waitQueues;
    private final PolledWaiters waiters;
    private boolean closed;
    private long tickets;

    /** Acquires that one transaction is to decide. */
    record Batch(
            List<QueuedAcquire> members,
            Set<String> names,
            Set<String> awaited,
            InFlightNames.Hold hold,
            long begunAt) {

        /** Whether it may have to wait for a row. */
        boolean isWaiting() {
            return !awaited.isEmpty();
        }

        /** What the database is asked for it. */
        GrantBatch grants(SortedMap<Long, List<Long>> releases) {
            return new GrantBatch(members.stream().map(QueuedAcquire::state).toList(), awaited, releases);
        }
    }

    /**
     * What became of the members of a batch, to be acted on without the lock.
     *
     * @param decided those that are to be told their outcome
     * @param toUndo what may have been granted to callers that are gone
     */
    record Settled(List<QueuedAcquire> decided, List<AcquireState> toUndo) {}

    /**
     * Makes an empty ready.
     *
     * @param certifiesWrites whether the server is one of several that are written to
     */
    GrantQueue(BatchLimits limits, boolean certifiesWrites, QueueClock clock) {
        this.limits = limits;
        this.clock = clock;
        contention = new Contention(limits.maxWaiting(), clock);
        ready = new ReadyQueue(clock);
        inFlight = new InFlightNames(clock);
        pauses = new HandoverPauses(clock);
        backOff = new ConflictBackOff(certifiesWrites, clock);
        waitQueues = new WaitQueues(pauses::isPaused, clock);
        waiters = new PolledWaiters(lock, inFlight, waitQueues, pauses, this::wake);
    }

    /**
     * Puts it into the ready, or into the wait queues where it is known that it would be refused.
     *
     * @return whether it is to be tried now
     * @throws SemaphoreClosedException when closed
     */
    boolean add(QueuedAcquire pending) {
        return lock.is(() -> {
            if (closed) {
                throw new SemaphoreClosedException();
            }
            pending.setTicket(++tickets);
            if (waitQueues.join(pending)) {
                pending.moveTo(Place.WAIT_QUEUE);
                pending.state().countRefusal();
                return false;
            }
            again(pending);
            return true;
        });
    }

    /** The callers that wait, as the poller sees them. */
    PolledWaiters waiters() {
        return waiters;
    }

    /** How long until a batch can begin; {@link Long#MAX_VALUE} when nothing waits for one. */
    long nanosToWork() {
        return lock.get(() -> {
            backOff.endPauses();
            long nanos = ready.size() == 0 ? Long.MAX_VALUE : Math.min(ready.nanosToReady(), backOff.nanosToEnd());
            return BatchSelector.isPossible(ready, inFlight, backOff) ? 0L : nanos;
        });
    }

    /** Whether something is queued that this JVM is to keep alive. */
    boolean hasKeptAlive() {
        return lock.is(ready::hasKeptAlive);
    }

    /** Takes the orders of the next round out of the ready, see {@link BatchSelector}. */
    Batch take(boolean withKeptAlive, boolean mayWait, boolean takesReleases) {
        return lock.get(() -> {
            BatchSelector selection = select(withKeptAlive, mayWait, takesReleases);
            List<QueuedAcquire> members = List.copyOf(selection.members());
            Set<String> names = Set.copyOf(selection.names());
            members.forEach(pending -> {
                ready.remove(pending);
                pending.moveTo(Place.BATCH);
                pending.state().setDemandAhead(waitQueues.demandAhead(pending));
            });
            Set<String> awaited = selection.awaited();
            members.forEach(pending -> pending.setRowAwaited(!awaited.isEmpty()));
            Batch batch = new Batch(members, names, awaited, inFlight.begin(names, awaited), clock.now());
            contention.begin(members.size(), batch.isWaiting());
            return batch;
        });
    }

    private BatchSelector select(boolean withKeptAlive, boolean mayWait, boolean takesReleases) {
        // a batch that waits takes no releases with it, which is worth more, unless others lock the same rows
        boolean waitsAtFirst = !takesReleases && contention.waitsAtFirst(ready.size());
        backOff.endPauses();
        return BatchSelector.from(
                ready,
                inFlight,
                backOff,
                limits.maxBatchSize(),
                withKeptAlive,
                mayWait && contention.mayWait(),
                waitsAtFirst);
    }

    /**
     * Whether releases of these semaphores are better left to the next batch: when there is one soon, or when callers wait
     * for their permits. Not while other instances lock the same rows: then batches wait for these rows. And not when
     * callers of other JVMs {@linkplain HandoverPauses are to be served}.
     */
    boolean takesReleases(Set<String> names) {
        return lock.is(() -> !pauses.begin(names)
                && !closed
                && !contention.isWithOthers()
                && !backOff.isPaused(names)
                && (isAboveThreshold() || waitQueues.isAwaited(names)));
    }

    /** Whether enough callers are active for batching to beat running in the caller's thread. */
    boolean isContended() {
        return lock.is(this::isAboveThreshold);
    }

    private boolean isAboveThreshold() {
        return contention.isAboveThreshold(ready.size());
    }

    /**
     * A batch was committed. Its members move to where they belong, and those whose turn it is now back into the queue.
     *
     * @param epoch the lease epoch of this instance before the transaction
     */
    Settled finish(Batch batch, BatchResult result, long epoch) {
        return lock.get(() -> {
            BatchSettlement settlement = newSettlement();
            try {
                settlement.committed(batch, result.outcomes(), epoch);
            } catch (RuntimeException | Error unforeseen) {
                BatchSettlement.giveUp(batch, unforeseen);
            }
            result.availability().forEach((name, left) -> {
                waitQueues.batch(name, left, inFlight.takeChange(name), batch.begunAt());
                pauses.batch(name, left, waitQueues.isAwaited(name));
                backOff.committed(name, left);
            });
            return end(batch, settlement);
        });
    }

    /**
     * The transaction of a batch has failed.
     *
     * @param reached whether there was a connection for it
     */
    Settled finishFailed(Batch batch, Throwable failure, boolean reached) {
        return lock.get(() -> {
            if (SqlErrors.isVictim(failure)) {
                backOff.conflict(batch.names());
            }
            BatchSettlement settlement = newSettlement();
            try {
                settlement.failed(batch, failure, reached);
            } catch (RuntimeException | Error unforeseen) {
                BatchSettlement.giveUp(batch, unforeseen);
            }
            return end(batch, settlement);
        });
    }

    private BatchSettlement newSettlement() {
        return new BatchSettlement(ready, waitQueues, contention, limits, closed, clock);
    }

    private Settled end(Batch batch, BatchSettlement settlement) {
        contention.end(batch.members().size(), batch.isWaiting());
        inFlight.end(batch.hold());
        wake(batch.names());
        return new Settled(
                batch.members().stream().filter(QueuedAcquire::isDecided).toList(), settlement.toUndo());
    }

    private void again(QueuedAcquire pending) {
        pending.moveTo(Place.QUEUE);
        ready.add(pending);
    }

    /** Permits of this JVM were released. Returns whether it is somebody's turn. */
    boolean released(Map<String, Integer> permits) {
        return lock.is(() -> {
            permits.forEach(this::add);
            pauses.released(permits.keySet());
            return wake(permits.keySet());
        });
    }

    private void add(String name, long permits) {
        inFlight.changed(name, permits);
        waitQueues.add(name, permits);
    }

    private boolean wake(Collection<String> names) {
        List<QueuedAcquire> woken = waitQueues.wake(names, (name, permits) -> inFlight.changed(name, -permits));
        woken.forEach(this::again);
        return !woken.isEmpty();
    }

    /**
     * The time to wait is over: it is tried once more, wherever it stands, or given up with the latest numbers where so many
     * are tried already that it would have to wait for a batch after the next.
     *
     * @return whether it is going to be decided
     */
    boolean tryLast(QueuedAcquire pending) {
        return lock.is(() -> {
            pending.state().setWillingToWait(false);
            boolean isQueued = pending.place() == Place.QUEUE;
            if (isQueued) {
                ready.remove(pending);
            }
            pending.pauseUntil(clock.in(Duration.ZERO));
            if (isQueued) {
                ready.add(pending);
            } else if (pending.place() == Place.WAIT_QUEUE) {
                List<PermitShortage> latest = waitQueues.shortages(pending);
                leaveWaitQueues(pending);
                if (!latest.isEmpty()) {
                    pending.refused(latest);
                }
                if (!latest.isEmpty() && ready.sizeBeside(pending) >= MAX_LAST_ATTEMPTS) {
                    pending.giveUp();
                } else {
                    again(pending);
                }
            }
            return !pending.isGivenUp();
        });
    }

    /**
     * Its caller gives it up. True when nothing is written for it, now or ever; otherwise it is answered, or being written.
     * From now on it does not wait for permits: where it is refused, it is answered.
     */
    boolean giveUp(QueuedAcquire pending) {
        return lock.is(() -> leave(pending));
    }

    /** The same; what is being written for it is undone by whoever writes it. */
    boolean abandon(QueuedAcquire pending) {
        return lock.is(() -> {
            boolean left = leave(pending);
            if (!left && pending.place() == Place.BATCH) {
                pending.abandon();
            }
            return left;
        });
    }

    private boolean leave(QueuedAcquire pending) {
        pending.state().setWillingToWait(false);
        if (pending.place() == Place.DONE
                || (pending.place() == Place.BATCH && !pending.state().withdraw())) {
            return false;
        }
        ready.remove(pending);
        pending.makeWay(pending.place() == Place.QUEUE);
        leaveWaitQueues(pending);
        pending.giveUp();
        return true;
    }

    private void leaveWaitQueues(QueuedAcquire pending) {
        Set<String> names = Set.copyOf(pending.shortOf().keySet());
        waitQueues.remove(pending);
        pending.makeWay(wake(names));
    }

    /** Whether a batch that is in flight decides about it, or about one of its names before it can be its turn. */
    boolean isUnderWay(QueuedAcquire pending) {
        return lock.is(() -> pending.place() == Place.BATCH
                || (pending.place() == Place.QUEUE && pending.names().stream().anyMatch(inFlight::contains)));
    }

    /** Closes, and empties the queue and the wait queues; what is in a batch is decided. */
    List<QueuedAcquire> close() {
        return lock.get(() -> {
            closed = true;
            List<QueuedAcquire> all = ready.clear();
            all.addAll(waitQueues.clear());
            all.forEach(pending -> pending.moveTo(Place.DONE));
            return all;
        });
    }
}
