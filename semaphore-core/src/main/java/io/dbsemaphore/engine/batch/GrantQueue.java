package io.dbsemaphore.engine.batch;

import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.concurrent.Monitor;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.FairQueuing;
import io.dbsemaphore.domain.HandoverOutcome;
import io.dbsemaphore.domain.ReuseTerms;
import io.dbsemaphore.engine.batch.Acquire.Stage;
import io.dbsemaphore.jdbc.SqlErrors;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The undecided acquires of this JVM, and the order in which they are decided: a queue of those that are ready to be tried, in
 * arrival order; the semaphores with a batch in flight; and the wait queues of semaphores with too few available permits. One
 * lock guards all state. No I/O and no code of a caller runs under that lock.
 */
final class GrantQueue {

    private final Monitor lock = new Monitor();
    private final BatchLimits limits;
    private final Contention contention;
    private final QueueClock clock;
    private final ReadyQueue ready;
    private final InFlightNames inFlight;
    private final ConflictBackOff backOff;
    private final WaitQueues waitQueues;
    private final PolledWaiters waiters;
    private final AcquireRemoval removal;
    private final FairQueuing fairQueuing;
    private boolean closed;
    private long tickets;

    /**
     * Creates an empty queue.
     *
     * @param certifiesWrites whether the server belongs to a cluster in which several servers accept writes
     */
    GrantQueue(BatchLimits limits, boolean certifiesWrites, FairQueuing fairQueuing, QueueClock clock) {
        this.limits = limits;
        this.fairQueuing = fairQueuing;
        this.clock = clock;
        contention = new Contention(limits.maxWaiting(), clock);
        ready = new ReadyQueue(clock);
        inFlight = new InFlightNames(clock);
        backOff = new ConflictBackOff(certifiesWrites, clock);
        waitQueues = new WaitQueues(clock);
        waiters = new PolledWaiters(lock, inFlight, waitQueues, fairQueuing, this::wake);
        removal = new AcquireRemoval(ready, waitQueues, this::wake, clock);
    }

    /**
     * Adds an acquire to the ready queue, or to the wait queues if it is known that the database would refuse it.
     *
     * @return whether the acquire is to be tried now
     * @throws SemaphoreClosedException when closed
     */
    boolean add(Acquire acquire) {
        return lock.is(() -> {
            if (closed) {
                throw new SemaphoreClosedException();
            }
            acquire.setTicket(++tickets);
            waitQueues.arrivals().arrived(acquire);
            if (waitQueues.join(acquire)) {
                acquire.moveTo(Stage.WAIT_QUEUE);
                return false;
            }
            ready.add(acquire);
            return true;
        });
    }

    /** The waiting callers, as the availability poller sees them. */
    PolledWaiters waiters() {
        return waiters;
    }

    /** The time until a batch can begin; {@link Long#MAX_VALUE} when nothing is ready. */
    long nanosToWork() {
        return lock.get(() -> {
            backOff.endPauses();
            if (BatchSelector.isPossible(ready, inFlight, backOff, contention.mayWait())) {
                return 0L;
            }
            // only now: the selection has taken in those whose pause has ended; a batch in flight may block them
            return ready.size() == 0 ? Long.MAX_VALUE : Math.min(ready.nanosToReady(), backOff.nanosToEnd());
        });
    }

    /** Whether an acquire is ready whose grant this JVM keeps alive. */
    boolean hasKeptAlive() {
        return lock.is(ready::hasKeptAlive);
    }

    /** Takes the acquires of the next batch out of the ready queue, see {@link BatchSelector}. */
    AcquireBatch take(boolean withKeptAlive, boolean takesReleases) {
        return lock.get(() -> {
            BatchSelector selection = select(withKeptAlive, takesReleases);
            List<Acquire> members =
                    selection.members().stream().sorted(Acquire.IN_ORDER).toList();
            Set<String> names = Set.copyOf(selection.names());
            Set<String> awaited = selection.awaited();
            boolean awaitsExternalId = AcquireBatch.awaitsExternalId(members);
            members.forEach(acquire -> {
                ready.remove(acquire);
                acquire.moveTo(Stage.BATCH);
                acquire.setDemandAhead(waitQueues.demandAhead(acquire));
                acquire.setRowAwaited(awaitsExternalId || !awaited.isEmpty());
            });
            AcquireBatch batch = new AcquireBatch(
                    members,
                    names,
                    awaited,
                    fairQueuing.queues(names, waitQueues.local(names)),
                    inFlight.begin(names, awaited, !awaitsExternalId),
                    clock.now());
            contention.begin(members.size(), batch.isWaiting());
            return batch;
        });
    }

    private BatchSelector select(boolean withKeptAlive, boolean takesReleases) {
        // a batch that blocks on a row lock takes no releases with it, which are worth more unless others lock the row
        boolean waitsAtFirst = !takesReleases && contention.waitsAtFirst(ready.size());
        backOff.endPauses();
        return BatchSelector.from(
                ready, inFlight, backOff, limits.maxBatchSize(), withKeptAlive, contention.mayWait(), waitsAtFirst);
    }

    /**
     * Whether releases of these semaphores should be piggy-backed on the next batch: if a batch begins soon, or if callers wait
     * for their permits. Not while other instances lock the same rows, since batches then wait for row locks.
     */
    boolean takesReleases(Set<String> names) {
        return lock.is(() -> !closed
                && !contention.isWithOthers()
                && !backOff.isPaused(names)
                && (contention.isAboveThreshold(ready.size()) || waitQueues.isAwaited(names)));
    }

    /** Whether so many callers are active that a batch that waits briefly gathers more of them. */
    boolean isContended() {
        return lock.is(() -> contention.isAboveThreshold(ready.size()));
    }

    /**
     * Settles a batch that was committed: its members are answered or queued again, and waiters that can be served now are
     * moved to the ready queue.
     *
     * @param epoch the lease epoch of this instance before the transaction
     */
    BatchSettlement.Result finish(AcquireBatch batch, BatchResult result, long epoch) {
        return lock.get(() -> {
            BatchSettlement settlement = newSettlement();
            waitQueues.recordClock(result.availability().values(), batch.startedAt());
            try {
                settlement.committed(batch, result, epoch);
            } catch (RuntimeException | Error unexpected) {
                settlement.giveUp(batch, unexpected);
            }
            result.availability().forEach((name, remaining) -> {
                waitQueues.recordBatch(
                        name, remaining, InFlightNames.change(batch.inFlight(), name), batch.startedAt());
                backOff.committed(name, remaining);
            });
            return end(batch, settlement);
        });
    }

    /**
     * Settles a batch whose transaction has failed.
     *
     * @param reached whether the transaction had a connection
     */
    BatchSettlement.Result finishFailed(AcquireBatch batch, Throwable failure, boolean reached) {
        return lock.get(() -> {
            if (SqlErrors.isVictim(failure)) {
                backOff.conflict(batch.names());
            }
            BatchSettlement settlement = newSettlement();
            try {
                settlement.failed(batch, failure, reached);
            } catch (RuntimeException | Error unexpected) {
                settlement.giveUp(batch, unexpected);
            }
            return end(batch, settlement);
        });
    }

    private BatchSettlement newSettlement() {
        return new BatchSettlement(ready, waitQueues, contention, limits, closed, clock);
    }

    private BatchSettlement.Result end(AcquireBatch batch, BatchSettlement settlement) {
        contention.end(batch.members().size(), batch.isWaiting());
        inFlight.end(batch.inFlight());
        wake(batch.names());
        return settlement.result(batch);
    }

    /** Records that this JVM released permits. Returns whether a waiter was woken. */
    boolean released(Map<String, Integer> permits) {
        return lock.is(() -> {
            permits.forEach(this::adjustAvailable);
            return wake(permits.keySet());
        });
    }

    private void adjustAvailable(String name, long permits) {
        inFlight.changed(name, permits);
        waitQueues.adjustAvailable(name, permits);
    }

    private boolean wake(Collection<String> names) {
        List<Acquire> woken = waitQueues.wake(names, (name, permits) -> inFlight.changed(name, -permits));
        woken.forEach(ready::add);
        return !woken.isEmpty();
    }

    /** Whether a caller waits for this semaphore. Takes no lock. */
    boolean isAwaited(String name) {
        return waitQueues.isAwaited(name);
    }

    /**
     * Hands permits that a caller of this JVM has released to the first caller that waits for them, if that agrees in the terms.
     *
     * @param answer for the waiting caller
     * @return what became of the permits; the caller {@linkplain Acquire#complete completes} the acquire that got them
     */
    HandoverResult handOver(ReuseTerms terms, Acquire.Answer answer) {
        return lock.get(() -> {
            Acquire first = waitQueues.first(terms.name());
            if (first == null && !waitQueues.isAwaited(terms.name())) {
                return new HandoverResult(HandoverOutcome.NOBODY_WAITS, null, false);
            }
            if (closed
                    || first == null
                    || waitQueues.isNextElsewhere(terms.name())
                    || !terms.equals(first.reuseTerms())) {
                return new HandoverResult(HandoverOutcome.NOT_POSSIBLE, null, false);
            }
            waitQueues.remove(first);
            waitQueues.recordDeparted(first.names());
            HandoverResult done = new HandoverResult(HandoverOutcome.DONE, first, wake(Set.of(terms.name())));
            first.decide(answer); // last: a failure before it leaves the permits with the caller of this method
            return done;
        });
    }

    /** What became of permits: the acquire that got them, and whether a further caller was woken to be tried. */
    record HandoverResult(HandoverOutcome outcome, @Nullable Acquire acquire, boolean woken) {}

    /** See {@link AcquireRemoval#tryOnceMore}. */
    boolean tryOnceMore(Acquire acquire) {
        return lock.is(() -> removal.tryOnceMore(acquire));
    }

    /** See {@link AcquireRemoval#giveUp}. */
    boolean giveUp(Acquire acquire) {
        return lock.is(() -> removal.giveUp(acquire));
    }

    /** As {@link #giveUp}; a grant that is being written for the acquire is undone by the thread that writes it. */
    boolean abandon(Acquire acquire) {
        return lock.is(() -> {
            boolean givenUp = removal.giveUp(acquire);
            if (!givenUp && acquire.stage() == Stage.BATCH) {
                acquire.abandon();
            }
            return givenUp;
        });
    }

    /** Whether a batch in flight decides the acquire, or blocks one of its names. */
    boolean isInFlight(Acquire acquire) {
        return lock.is(() -> acquire.stage() == Stage.BATCH
                || (acquire.stage() == Stage.READY && acquire.names().stream().anyMatch(inFlight::blocks)));
    }

    /** Whether a row that another transaction has locked has postponed the acquire since it was refused last. */
    boolean isPostponed(Acquire acquire) {
        return lock.is(() -> acquire.postponedUntil() != null);
    }

    /** Closes the queue, and empties it and the wait queues. Batches in flight are still decided. */
    List<Acquire> close() {
        return lock.get(() -> {
            closed = true;
            List<Acquire> all = ready.clear();
            all.addAll(waitQueues.clear());
            all.forEach(acquire -> acquire.moveTo(Stage.DONE));
            return all;
        });
    }
}
