package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.engine.batch.QueueSchedule.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Does the steps of a schedule with a {@link WorkQueue}, and has its {@link QueueModel} check each of them. */
final class QueueScheduleRun {

    private static final Duration[] PAUSES = {
        Duration.ofMillis(1),
        Duration.ofMillis(15),
        Duration.ofMillis(60),
        Duration.ofMillis(260),
        Duration.ofSeconds(3)
    };

    private static final Duration[] HEAD_STARTS = {
        Duration.ofNanos(3_000), Duration.ofMillis(20), Duration.ofSeconds(2), Duration.ofHours(1)
    };

    private final QueueSchedule schedule;
    private final Random random;
    private final ModelDatabase database = new ModelDatabase();
    private final WorkQueue queue;
    private final ModelParticipants participants = new ModelParticipants(database);
    private final QueueModel model;
    private final ScheduledBatches batches;
    private final List<String> events = new ArrayList<>();
    private long now;
    private @Nullable Map<String, RemainingAvailability> polled;
    private long polledAsOf;
    private boolean closed;

    QueueScheduleRun(QueueSchedule schedule) {
        this.schedule = schedule;
        random = new Random(schedule.setup());
        now = schedule.setup() % 2 == 0 ? Long.MAX_VALUE - 1_000_000_000L : 0; // the clock may overflow
        boolean wide = schedule.setup() % 10 == 9;
        int maxBatchSize = wide || areTriedTogether() ? 500 : 1 + schedule.setup() % 7;
        int semaphores = wide ? 300 : 1 + schedule.setup() % 4;
        for (int i = 0; i < semaphores; i++) {
            database.create("s" + i, 1 + random.nextInt(3));
        }
        queue = new WorkQueue(
                new BatchLimits(3, maxBatchSize, 3, Duration.ofSeconds(1), Duration.ofSeconds(1)),
                schedule.setup() % 3 == 0,
                hasShares() ? Values.FAIR.withWeights((name, share) -> ModelShares.weight(share)) : Values.FAIR,
                new QueueClock(() -> now, bound -> (random.nextLong() >>> 1) % bound));
        model = new QueueModel(queue, database, maxBatchSize, participants);
        batches = new ScheduledBatches(queue, database, participants, model);
    }

    private boolean hasShares() {
        return schedule.setup() >= QueueSchedule.WITH_SHARES;
    }

    private boolean hasOthers() {
        return schedule.setup() >= QueueSchedule.WITH_OTHERS && schedule.setup() < QueueSchedule.WITH_SHARES_APART;
    }

    /** Whether all callers that are woken at one semaphore are tried by one batch. */
    private boolean areTriedTogether() {
        return hasShares() && schedule.setup() < QueueSchedule.WITH_SHARES_APART;
    }

    /** What happened so far, a line for each step. */
    List<String> events() {
        return events;
    }

    void run() {
        for (Step step : schedule.steps()) {
            perform(step);
        }
        if (schedule.setup() % 3 == 1) {
            close();
        }
        drain();
    }

    private void perform(Step step) {
        advance(1_000);
        model.begin(now);
        String event = perform(step.action(), new Random(step.choice()));
        events.add(step + "  " + event);
        model.end();
    }

    private String perform(QueueSchedule.Action action, Random choice) {
        return switch (action) {
            case ADD -> add(choice);
            case TAKE -> batches.take(choice);
            case DECIDE -> batches.decide(participants.flight(choice, false));
            case FINISH -> batches.finish(participants.flight(choice, true));
            case FAIL -> areTriedTogether() ? "-" : batches.fail(choice);
            case RELEASE -> batches.release(choice);
            case TIME -> pass(choice);
            case POLL -> poll();
            case POLLED -> polled();
            case TRY_LAST -> leave(choice, this::tryLast);
            case GIVE_UP -> leave(choice, this::giveUp);
            case ABANDON -> leave(choice, this::abandon);
            case OTHERS ->
                hasOthers()
                        ? database.othersWithShares(name(choice), choice)
                        : database.others(name(choice), choice.nextInt(3));
            case LOCK -> areTriedTogether() ? "-" : database.toggleLock(name(choice));
            case TAKES_RELEASES -> "takes releases: " + queue.takesReleases(Set.of(name(choice)));
            case WAKE_FIRST -> wakeFirst(name(choice));
            case CLOSE -> choice.nextInt(4) == 0 ? close() : "-";
        };
    }

    private void advance(long nanos) {
        now += nanos;
        database.advance(nanos);
    }

    private String name(Random choice) {
        List<String> names = database.names();
        return names.get(choice.nextInt(names.size()));
    }

    private String add(Random choice) {
        boolean wide = database.names().size() > 100;
        Map<String, Integer> permits = new TreeMap<>();
        int names = wide ? 1 + choice.nextInt(40) : 1 + (choice.nextInt(3) == 0 ? choice.nextInt(3) : 0);
        for (int i = 0; i < names; i++) {
            permits.put(name(choice), choice.nextInt(8) == 0 ? 2 + choice.nextInt(2) : 1);
        }
        boolean exclusive = choice.nextInt(10) == 0;
        if (exclusive) {
            permits.replaceAll((name, count) -> 1);
        }
        boolean shared = choice.nextInt(12) == 0 && !areTriedTogether();
        String id = shared ? "shared-" + choice.nextInt(3) : "id-" + participants.nextNumber();
        LongSupplier keeper = choice.nextInt(4) == 0 ? () -> 1 : null;
        AcquireCommand command = new AcquireCommand(id, shared, true, permits, exclusive, null, "test", null, keeper);
        boolean waits = choice.nextInt(4) > 0;
        Deadline deadline = Deadline.after(now, Duration.ofSeconds(waits ? 30 : 0));
        Duration headStart = choice.nextInt(3) == 0 ? HEAD_STARTS[choice.nextInt(HEAD_STARTS.length)] : Duration.ZERO;
        QueueClock clock = new QueueClock(() -> now, bound -> 0);
        String share = hasShares() ? ModelShares.SHARES.get(choice.nextInt(ModelShares.SHARES.size())) : "";
        ModelCaller caller = new ModelCaller(
                participants.nextNumber(), WorkQueueFixture.acquire(command, waits, deadline, headStart, share, clock));
        return model.add(caller) + (exclusive ? " exclusively" : "");
    }

    private String pass(Random choice) {
        long toWork = queue.nanosToWork();
        boolean untilWork = choice.nextBoolean() && toWork > 0 && toWork < Long.MAX_VALUE;
        Duration pause = untilWork ? Duration.ofNanos(toWork) : PAUSES[choice.nextInt(PAUSES.length)];
        advance(pause.toNanos());
        model.begin(now);
        return "after " + pause;
    }

    private String poll() {
        polledAsOf = now;
        WorkQueue.Poll poll = queue.beginPoll();
        polled = database.poll(poll.names(), poll.queues());
        return "the poller asks";
    }

    private String polled() {
        Map<String, RemainingAvailability> seen = polled;
        if (seen == null) {
            return "-";
        }
        polled = null;
        model.waiters().polled(seen, polledAsOf);
        boolean woken = queue.recordPoll(seen, polledAsOf);
        return "the poller tells " + seen + ", somebody is woken: " + woken;
    }

    private String wakeFirst(String name) {
        model.waiters().wakeFirst(name);
        boolean woken = queue.tryFirst(List.of(name));
        return "reclaim for " + name + ", somebody is woken: " + woken;
    }

    /** A caller that has no answer stops waiting for one. */
    private String leave(Random choice, Function<ModelCaller, String> step) {
        ModelCaller caller = participants.caller(choice);
        if (caller == null) {
            return "-";
        }
        caller.acquire.endWait();
        return step.apply(caller);
    }

    private String tryLast(ModelCaller caller) {
        queue.tryOnceMore(caller.acquire);
        return caller + " is tried once more: " + model.left(caller, false);
    }

    private String giveUp(ModelCaller caller) {
        return caller + " is given up: " + model.left(caller, queue.cancel(caller.acquire));
    }

    private String abandon(ModelCaller caller) {
        boolean left = queue.abandon(caller.acquire);
        if (!left && caller.acquire.isAbandoned()) {
            caller.gone = true;
        }
        return caller + " is abandoned: " + model.left(caller, left);
    }

    private String close() {
        if (!closed) {
            model.close();
        }
        closed = true;
        return "closes";
    }

    /** Nothing more comes, nobody else is at the database, and all is released: everybody has its answer soon. */
    private void drain() {
        database.endOthers();
        events.add("(nothing more comes)");
        for (int i = 0;
                !participants.outstanding().isEmpty() || !participants.flights().isEmpty();
                i++) {
            if (i > 1_000) {
                throw new AssertionError("Lost: " + participants.outstanding());
            }
            step(() -> batches.decide(participants.flight(new Random(0), false)));
            step(() -> batches.finish(participants.flight(new Random(0), true)));
            step(() -> batches.release(new Random(1)));
            Random pause = new Random(i);
            step(() -> pass(pause));
            step(this::poll);
            step(this::polled);
            step(() -> participants.flights().isEmpty()
                            && !participants.outstanding().isEmpty()
                    ? batches.take(true, false)
                    : "-");
        }
        while (!batches.areAllReleased()) {
            step(() -> batches.release(new Random(1)));
        }
        batches.releaseAll();
        advance(Duration.ofSeconds(10).toNanos());
        WorkQueue.Poll unused = queue.beginPoll(); // tells of those who were ready at the last one, and are gone
        model.checkEmpty();
    }

    private void step(Supplier<String> action) {
        advance(1_000);
        model.begin(now);
        String event = action.get();
        if (!"-".equals(event)) {
            events.add(event);
        }
        model.end();
    }
}
