package io.dbsemaphore.engine.batch;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.RemainingAvailability;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/** A queue of acquires of the semaphore {@code backup}, and the ways to fill and to empty it. */
abstract class WorkQueueFixture {

    static final Map<String, Integer> BACKUP = Map.of("backup", 1);
    static final PermitShortage FULL = new PermitShortage("backup", 1, 1, 1, Optional.empty());

    private LongSupplier time = System::nanoTime;
    final QueueClock queueClock = new QueueClock(() -> time.getAsLong(), QueueClock.SYSTEM.random());
    final WorkQueue queue = queue(2, 500, queueClock);

    /** A nanosecond passes with each look at the clock: no answer of the database becomes old. */
    final void slowDown() {
        time = new AtomicLong(System.nanoTime())::incrementAndGet;
    }

    static WorkQueue queue(int atOnce, int maxBatchSize, QueueClock clock) {
        return queue(atOnce, maxBatchSize, Duration.ofSeconds(5), clock);
    }

    static WorkQueue queue(int atOnce, int maxBatchSize, Duration lockWait, QueueClock clock) {
        BatchLimits limits = new BatchLimits(atOnce, maxBatchSize, 3, lockWait, lockWait);
        return new WorkQueue(limits, false, Values.FAIR, clock);
    }

    static AcquireCommand command(Map<String, Integer> permits) {
        String id = UUID.randomUUID().toString();
        return new AcquireCommand(id, false, true, permits, false, null, "test", null, null);
    }

    static Acquire acquire(AcquireCommand command, boolean waits, Deadline deadline, QueueClock clock) {
        return acquire(command, waits, deadline, Duration.ZERO, clock);
    }

    /** The queue knows what a caller asks for by the command only. */
    static Acquire acquire(
            AcquireCommand command, boolean waits, Deadline deadline, Duration headStart, QueueClock clock) {
        return acquire(command, waits, deadline, headStart, "", clock);
    }

    /** @param share empty for none */
    static Acquire acquire(
            AcquireCommand command,
            boolean waits,
            Deadline deadline,
            Duration headStart,
            String share,
            QueueClock clock) {
        long now = clock.now();
        Duration waitTime = Duration.ofNanos(waits ? Math.max(1, deadline.remainingNanos(now)) : 0);
        AcquireRequest request =
                AcquireRequest.of("test").withWaitTime(waitTime).withHeadStart(headStart);
        return new Acquire(
                new Acquire.Call(share.isEmpty() ? request : request.withShare(share), now, false, null),
                command,
                clock);
    }

    static Acquire withoutWaitTime(Map<String, Integer> permits) {
        return acquire(command(permits), false, Deadline.in(Duration.ZERO), QueueClock.SYSTEM);
    }

    final Acquire waiter(Map<String, Integer> permits) {
        return acquire(command(permits), true, queueClock.in(Duration.ofMinutes(1)), queueClock);
    }

    final Acquire addWaiter() {
        return addWaiters(1).get(0);
    }

    final List<Acquire> waiters(int count) {
        return Stream.generate(() -> waiter(BACKUP)).limit(count).toList();
    }

    final List<Acquire> addWaiters(int count) {
        List<Acquire> waiters = waiters(count);
        waiters.forEach(queue::add);
        return waiters;
    }

    final Batch take() {
        return queue.take(true, false);
    }

    final void refuseAll() {
        for (Batch batch = take(); !batch.members().isEmpty(); batch = take()) {
            refuse(batch);
        }
    }

    final void refuse(Batch batch) {
        end(batch, available(0, 7), new GrantOutcome.Refused(List.of(FULL)));
    }

    static Map<String, RemainingAvailability> available(long free, long fence) {
        return Map.of("backup", Values.remaining(1, 1 - free, free, 7, fence));
    }

    static void end(WorkQueue queue, Batch batch, Map<String, RemainingAvailability> left, GrantOutcome outcome) {
        List<GrantOutcome> outcomes = Collections.nCopies(batch.members().size(), outcome);
        Settlement.Result unused =
                queue.finish(batch, new BatchResult(outcomes, left, List.of(), Map.of(), batch.startedAt()), 0);
    }

    final void end(Batch batch, Map<String, RemainingAvailability> left, GrantOutcome outcome) {
        end(queue, batch, left, outcome);
    }

    final boolean poll(long available, long asOf) {
        return queue.recordPoll(Map.of("backup", Values.polled(1, 1 - available, available, 0)), asOf);
    }
}
