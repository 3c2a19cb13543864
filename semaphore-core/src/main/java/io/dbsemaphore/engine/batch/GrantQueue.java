package io.dbsemaphore.engine.batch;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.domain.GrantBatch;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.engine.batch.QueuedAcquire.Place;
import io.dbsemaphore.engine.support.Deadline;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;

/**
 * What is to be granted in this JVM, and whose turn it is: a queue of orders to be tried, in the order in which they came;
 * the names that rounds are at; and the lines of those for whom there was no room. One lock guards all of it; nothing under
 * it takes long.
 */
final class GrantQueue {

    /** So many that name the same are tried once more at their deadline; a batch after the next would come too late. */
    static final int MAX_LAST_ATTEMPTS = 500;

    private final QueueLock guard = new QueueLock();
    private final Contention contention;
    private final int maxBatchSize;
    private final ReadyQueue queue = new ReadyQueue();
    private final InFlightNames inFlight = new InFlightNames();
    private final HandoverPauses pauses = new HandoverPauses();
    private final ConflictBackOff backOff;
    private final WaitQueues waitQueues = new WaitQueues(pauses::isPaused);
    private final PolledWaiters waiters = new PolledWaiters(guard, inFlight, waitQueues, pauses, this::wake);
    private boolean closed;
    private long tickets;

    /** Orders that one transaction is to decide. */
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
            return new GrantBatch(members.stream().map(QueuedAcquire::command).toList(), awaited, releases);
        }
    }

    /**
     * Makes a board.
     *
     * @param maxWaitingBatches how many rounds at a time may wait for rows that others have locked
     * @param maxBatchSize how many acquires one round decides at most
     * @param certifiesWrites whether the server is one of several that are written to
     */
    GrantQueue(int maxWaitingBatches, int maxBatchSize, boolean certifiesWrites) {
        backOff = new ConflictBackOff(certifiesWrites);
        contention = new Contention(maxWaitingBatches);
        this.maxBatchSize = maxBatchSize;
    }

    /**
     * Puts it into the queue, or into the wait queues where it is known that it would be refused.
     *
     * @return whether it is to be tried now
     * @throws SemaphoreClosedException when closed
     */
    boolean add(QueuedAcquire pending) {
        return guard.is(() -> {
            if (closed) {
                throw new SemaphoreClosedException();
            }
            pending.setTicket(++tickets);
            if (waitQueues.join(pending)) {
                pending.moveTo(Place.WAIT_QUEUE);
                pending.command().refused();
                return false;
            }
            again(pending);
            return true;
        });
    }

    /** Those who wait, for whoever looks for what they wait for. */
    PolledWaiters waiters() {
        return waiters;
    }

    /** How long until a round can begin; {@link Long#MAX_VALUE} when nothing waits for one. */
    long nanosToWork() {
        return guard.get(() -> {
            backOff.endPauses();
            long nanos = queue.size() == 0 ? Long.MAX_VALUE : Math.min(queue.nanosToReady(), backOff.nanosToEnd());
            return BatchSelector.isPossible(queue, inFlight, backOff) ? 0L : nanos;
        });
    }

    /** Whether something is queued that this JVM is to keep alive. */
    boolean hasKeptAlive() {
        return guard.is(queue::hasKeptAlive);
    }

    /** Takes the orders of the next round out of the queue, see {@link BatchSelector}. */
    Batch take(boolean withKeptAlive, boolean mayWait, boolean takesReleases) {
        return guard.get(() -> {
            BatchSelector selection = select(withKeptAlive, mayWait, takesReleases);
            List<QueuedAcquire> members = List.copyOf(selection.members());
            Set<String> names = Set.copyOf(selection.names());
            members.forEach(pending -> {
                queue.remove(pending);
                pending.moveTo(Place.BATCH);
                pending.command().setDemandAhead(waitQueues.demandAhead(pending));
            });
            Set<String> awaited = selection.awaited();
            members.forEach(pending -> pending.setRowAwaited(!awaited.isEmpty()));
            Batch batch = new Batch(members, names, awaited, inFlight.begin(names, awaited), System.nanoTime());
            contention.begin(members.size(), batch.isWaiting());
            return batch;
        });
    }

    private BatchSelector select(boolean withKeptAlive, boolean mayWait, boolean takesReleases) {
        // what waits keeps releases from riding along, which is worth more, unless others are at the same rows
        boolean waitsAtFirst = !takesReleases && contention.waitsAtFirst(queue.size());
        backOff.endPauses();
        return BatchSelector.from(
                queue, inFlight, backOff, maxBatchSize, withKeptAlive, mayWait && contention.mayWait(), waitsAtFirst);
    }

    /**
     * Whether releases of these semaphores are better left to the next round: when there is one soon, or when somebody
     * waits for their room. Not while other nodes are at the same rows: then rounds wait for these, in the database's line.
     * And not when other JVMs are to be {@linkplain HandoverPauses let in}.
     */
    boolean takesReleases(Set<String> names) {
        return guard.is(() -> !pauses.begin(names)
                && !closed
                && !contention.isWithOthers()
                && !backOff.isPaused(names)
                && (isAboveThreshold() || waitQueues.isAwaited(names)));
    }

    /** Whether so many callers are at it that nobody should do alone what he wants. */
    boolean isContended() {
        return guard.is(this::isAboveThreshold);
    }

    private boolean isAboveThreshold() {
        return contention.isAboveThreshold(queue.size());
    }

    /**
     * A round is over. Moves its members to where they belong, and those whose turn it is now back into the queue.
     *
     * @param availability what it has left of the semaphores whose rows it had locked; nothing where it failed
     */
    void finish(Batch batch, Map<String, RemainingAvailability> availability, Runnable moves) {
        guard.run(() -> {
            moves.run();
            availability.forEach((name, left) -> {
                waitQueues.batch(name, left, inFlight.takeChange(name), batch.begunAt());
                pauses.batch(name, left, waitQueues.isAwaited(name));
                backOff.committed(name, left);
            });
            contention.end(batch.members().size(), batch.isWaiting());
            inFlight.end(batch.hold());
            wake(batch.names());
        });
    }

    /** Within {@link #finish}: it is to be tried again. */
    void again(QueuedAcquire pending) {
        pending.moveTo(Place.QUEUE);
        queue.add(pending);
    }

    /** Within {@link #finish}: somebody else had locked a row. */
    void contested() {
        contention.contested();
    }

    /** Within {@link #finish}: it failed for the sake of another transaction. */
    void conflicted(Batch batch) {
        backOff.conflict(batch.names());
    }

    /** Within {@link #finish}: it waits for permits. */
    void park(QueuedAcquire pending) {
        pending.moveTo(Place.WAIT_QUEUE);
        waitQueues.park(pending);
    }

    /** Within {@link #finish}: it was refused, which may be news for those who wait. */
    void refused(QueuedAcquire pending) {
        waitQueues.refused(pending.lastShortages());
    }

    /** Within {@link #finish}: whether nothing is to be tried again. */
    boolean isClosed() {
        return closed;
    }

    /** Permits of this JVM were released. Returns whether it is somebody's turn. */
    boolean released(Map<String, Integer> permits) {
        return guard.is(() -> {
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
        return guard.is(() -> {
            pending.command().setWillingToWait(false);
            boolean isQueued = pending.place() == Place.QUEUE;
            if (isQueued) {
                queue.remove(pending);
            }
            pending.pauseUntil(Deadline.in(Duration.ZERO));
            if (isQueued) {
                queue.add(pending);
            } else if (pending.place() == Place.WAIT_QUEUE) {
                List<PermitShortage> latest = waitQueues.shortages(pending);
                leaveWaitQueues(pending);
                if (!latest.isEmpty()) {
                    pending.refused(latest);
                }
                if (!latest.isEmpty() && queue.sizeBeside(pending) >= MAX_LAST_ATTEMPTS) {
                    pending.giveUp();
                } else {
                    again(pending);
                }
            }
            return !pending.isGivenUp();
        });
    }

    /**
     * Its caller gives it up. True when nothing is written for it, now or ever; otherwise it is answered, or being written,
     * and {@code claimed} says what to do about that. From now on it does not wait for permits: where it is refused, it is
     * answered.
     */
    boolean giveUp(QueuedAcquire pending, Runnable claimed) {
        return guard.is(() -> {
            pending.command().setWillingToWait(false);
            if (pending.place() == Place.DONE) {
                return false;
            }
            if (pending.place() == Place.BATCH && !pending.command().withdraw()) {
                claimed.run();
                return false;
            }
            queue.remove(pending);
            pending.makeWay(pending.place() == Place.QUEUE);
            leaveWaitQueues(pending);
            pending.giveUp();
            return true;
        });
    }

    private void leaveWaitQueues(QueuedAcquire pending) {
        Set<String> names = Set.copyOf(pending.shortOf().keySet());
        waitQueues.remove(pending);
        pending.makeWay(wake(names));
    }

    /** Whether a batch that is in flight decides about it, or about one of its names before it can be its turn. */
    boolean isUnderWay(QueuedAcquire pending) {
        return guard.is(() -> pending.place() == Place.BATCH
                || (pending.place() == Place.QUEUE && pending.names().stream().anyMatch(inFlight::contains)));
    }

    /** Closes, and empties the queue and the lines; what is in a round is decided. */
    List<QueuedAcquire> close() {
        return guard.get(() -> {
            closed = true;
            List<QueuedAcquire> all = queue.clear();
            all.addAll(waitQueues.clear());
            all.forEach(pending -> pending.moveTo(Place.DONE));
            return all;
        });
    }
}
