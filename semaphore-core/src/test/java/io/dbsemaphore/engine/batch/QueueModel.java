package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.engine.batch.Acquire.Stage;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.Waiter;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** What a {@link WorkQueue} must have done after each step of a schedule, from what its callers see of it. */
final class QueueModel {

    /** For so long after a conflict a semaphore may be passed over. */
    private static final long CONFLICT = Duration.ofMillis(2_200).toNanos();

    /** For so long after it was found locked a semaphore may pause. */
    private static final long LOCKED = Duration.ofMillis(20).toNanos();

    private final WorkQueue queue;
    private final ModelDatabase database;
    private final int maxBatchSize;
    private final ModelParticipants participants;
    private final ModelWaiters waiters;
    private final Map<String, Long> conflictAt = new HashMap<>();
    private final Map<String, Long> lockedAt = new HashMap<>();
    private long now;
    private boolean closed;

    QueueModel(WorkQueue queue, ModelDatabase database, int maxBatchSize, ModelParticipants participants) {
        this.queue = queue;
        this.database = database;
        this.maxBatchSize = maxBatchSize;
        this.participants = participants;
        waiters = new ModelWaiters(participants);
    }

    ModelWaiters waiters() {
        return waiters;
    }

    /** A step begins. */
    void begin(long nanos) {
        now = nanos;
        waiters.begin(nanos);
    }

    String add(ModelCaller caller) {
        try {
            boolean tried = queue.add(caller.acquire);
            assertThat(closed).as("added although closed").isEqualTo(false);
            participants.callers().add(caller);
            assertThat(caller.stage()).isEqualTo(tried ? Stage.READY : Stage.LINE);
            if (!tried) {
                waiters.joined(caller);
            }
            if (!tried
                    && caller.acquire.position().headStart() > 0
                    && caller.acquire.names().stream()
                            .noneMatch(waiters::isShared)) { // others know of those ahead of it only
                assertThat(participants.waiting().keySet())
                        .as("joins unasked ahead of others: %s", caller)
                        .filteredOn(each -> !Collections.disjoint(each.acquire.names(), caller.acquire.names()))
                        .allMatch(each -> ModelWaiters.IN_ORDER.compare(each, caller) <= 0);
            }
            return "adds " + caller;
        } catch (SemaphoreClosedException failure) {
            assertThat(closed).as("refused since closed").isEqualTo(true);
            return "-";
        }
    }

    ModelFlight take(boolean withKeptAlive, boolean takesReleases) {
        List<ModelCaller> queued = participants.callersAt(Stage.READY).stream()
                .sorted(ModelWaiters.IN_ORDER)
                .toList();
        long toWork = queue.nanosToWork();
        Batch batch = queue.take(withKeptAlive, takesReleases);
        ModelFlight flight = new ModelFlight(participants.nextNumber(), batch, now, participants.waiting());
        List<ModelCaller> members = members(batch);
        if (withKeptAlive) {
            assertThat(toWork <= 0).as("work: " + toWork).isEqualTo(!members.isEmpty());
        }
        assertThat(members).as("once").doesNotHaveDuplicates().isSubsetOf(queued);
        checkTaken(batch, members);
        queued.stream()
                .filter(each -> !members.contains(each) && mayNotBeOvertaken(each))
                .forEach(each -> assertThat(members)
                        .as("overtakes " + each)
                        .noneMatch(member -> queued.indexOf(member) > queued.indexOf(each)
                                && orderedNames(each).anyMatch(member.acquire.names()::contains)));
        promiseForLater(flight, members);
        participants.flights().add(flight);
        return flight;
    }

    /** Where permits are shared, those who are woken for a later batch have been promised theirs before anybody else is woken. */
    private void promiseForLater(ModelFlight flight, List<ModelCaller> members) {
        for (String name : flight.batch.names()) {
            boolean isShared = waiters.isShared(name)
                    || members.stream()
                            .filter(each -> each.acquire.names().contains(name))
                            .anyMatch(each -> !each.state().share().isNone());
            flight.changed(name, -waiters.promisedToReady(name, isShared, false));
        }
    }

    List<ModelCaller> members(Batch batch) {
        return batch.members().stream().map(participants::callerOf).toList();
    }

    private void checkTaken(Batch batch, List<ModelCaller> members) {
        assertThat(members.size()).as("members").isLessThanOrEqualTo(maxBatchSize);
        if (members.size() > 1) {
            assertThat(batch.names().size()).as("names").isLessThanOrEqualTo(200);
            assertThat(members)
                    .as("isolated")
                    .noneMatch(each -> each.acquire.attempt().isIsolated());
        }
        assertThat(members.stream().map(each -> each.state().command().externalId()))
                .as("external ids")
                .doesNotHaveDuplicates();
        for (ModelFlight other : participants.flights()) {
            assertThat(batch.names()).as("in flight by " + other).noneMatch(name -> other.keeps(name, now));
        }
        if (closed) {
            assertThat(members).as("after close").allMatch(each -> each.state().isOutcomeUnknown());
        }
    }

    private boolean mayNotBeOvertaken(ModelCaller caller) {
        return caller.acquire.notBefore().remainingNanos(now) <= 0
                && caller.acquire.names().stream()
                        .noneMatch(name -> now - conflictAt.getOrDefault(name, now - CONFLICT) < CONFLICT
                                || participants.flights().stream().anyMatch(each -> each.isStalledOver(name, now)));
    }

    /**
     * The semaphores of a caller at which others must not overtake it: all, or the only one that may be pausing, since then the others are
     * not reserved; none, if several may.
     */
    private Stream<String> orderedNames(ModelCaller caller) {
        List<String> pausing = caller.acquire.names().stream()
                .filter(name -> now - lockedAt.getOrDefault(name, now - LOCKED - 1) <= LOCKED)
                .toList();
        return pausing.isEmpty()
                ? caller.acquire.names().stream()
                : pausing.stream().filter(name -> pausing.size() == 1);
    }

    /** Those who came later are granted nothing of what is withheld for those who came before. */
    void decided(ModelFlight flight) {
        Map<ModelCaller, Map<String, Long>> still = participants.waiting();
        for (ModelCaller member : members(flight.batch)) {
            if (flight.grants.contains(member.state().command())) {
                boolean hasTurn =
                        member.state().isWillingToWait() || member.state().hasWaited();
                for (String name : member.acquire.names().stream()
                        .filter(each -> !hasTurn
                                || !database.isShared(each)) // where turns are by shares, ModelDecision has checked it
                        .toList()) {
                    long ahead = flight.waiting.entrySet().stream()
                            .filter(each -> ModelWaiters.IN_ORDER.compare(each.getKey(), member) < 0)
                            .filter(each -> still.containsKey(each.getKey()))
                            .filter(each -> database.isWindowOpen()
                                    || !each.getKey().state().isOfSeveral())
                            .mapToLong(each -> each.getValue().getOrDefault(name, 0L))
                            .sum();
                    assertThat(ahead == 0 ? 0 : database.free(name))
                            .as("left of " + name + " by " + member)
                            .isGreaterThanOrEqualTo(ahead);
                }
            }
        }
    }

    void finished(ModelFlight flight, Settlement.Result settled) {
        waiters.finished(flight);
        checkPlaces(flight);
        flight.result().outcomes().forEach(outcome -> {
            if (outcome instanceof GrantOutcome.Postponed postponed) {
                lockedAt.put(postponed.name(), now);
            }
        });
        answer(settled);
    }

    /** Other instances were told the places that the refused callers have here. */
    private void checkPlaces(ModelFlight flight) {
        for (int i = 0; i < flight.batch.members().size(); i++) {
            Acquire member = flight.batch.members().get(i);
            if (flight.result().outcomes().get(i) instanceof GrantOutcome.Refused
                    && (member.stage() == Stage.LINE || member.stage() == Stage.READY)) {
                member.names()
                        .forEach(name -> assertThat(flight.told.get(name))
                                .as("the places at %s that others were told", name)
                                .extracting(Waiter::place)
                                .contains(member.place()));
            }
        }
    }

    void failed(ModelFlight flight, Settlement.Result settled, Throwable failure) {
        if (SqlErrors.isVictim(failure)) {
            flight.batch.names().forEach(name -> conflictAt.put(name, now));
        }
        answer(settled);
    }

    private void answer(Settlement.Result settled) {
        settled.acquires().forEach((acquire, answer) -> {
            ModelCaller caller = participants.callerOf(acquire);
            assertThat(caller.acquire.answer())
                    .as("told under the lock: " + caller)
                    .isNotDone();
            answer.run();
            caller.decisions++;
            told(caller);
        });
    }

    /** A caller that gets a failure other than an unknown outcome ensures itself that nothing is held. */
    private void told(ModelCaller caller) {
        if (!caller.gone) {
            answered(caller);
        }
    }

    private void answered(ModelCaller caller) {
        caller.answers++;
        if (caller.state().isOutcomeUnknown()) {
            database.undo(caller.state());
        }
    }

    /** A caller may have left. */
    String left(ModelCaller caller, boolean left) {
        waiters.leaves(caller);
        if (left) {
            answered(caller);
        } else if (caller.gone) {
            caller.answers++;
        }
        return String.valueOf(left);
    }

    void close() {
        List<ModelCaller> there = Stream.of(Stage.READY, Stage.LINE)
                .flatMap(place -> participants.callersAt(place).stream())
                .toList();
        List<ModelCaller> told =
                queue.close().stream().map(participants::callerOf).toList();
        assertThat(told).as("told that it is closed").containsExactlyInAnyOrderElementsOf(there);
        told.forEach(this::told);
        closed = true;
    }

    /** A step is over. */
    void end() {
        waiters.end();
        WorkQueue.Poll poll = queue.beginPoll();
        require(poll.names().equals(waiters.names()), () -> "Waited for: " + poll.names());
        poll.names().forEach(name -> {
            LineHead expected = waiters.head(name);
            require(
                    poll.queues().of(name).equals(expected),
                    () -> "Others are told of " + name + ": " + poll.queues().of(name) + " instead of " + expected);
        });
        boolean keptAlive = participants.callersAt(Stage.READY).stream()
                .anyMatch(each -> each.state().command().isKeptAlive());
        require(queue.hasKeptAlive() == keptAlive, () -> "To be kept alive: " + !keptAlive);
        participants.callers().forEach(this::check);
    }

    private void check(ModelCaller caller) {
        Stage place = caller.stage();
        require(caller.answers <= 1, () -> "Answered twice: " + caller);
        require(caller.decisions <= 1, () -> "Decided twice: " + caller);
        require(
                caller.gone || (place == Stage.DONE) == (caller.answers == 1),
                () -> "Answers: " + caller.answers + ", " + caller);
        require(
                caller.decisions > 0 || !caller.acquire.answer().isDone(),
                () -> "Told while the lock was held: " + caller);
        long batches = participants.flights().stream()
                .filter(each -> place == Stage.BATCH && each.batch.members().contains(caller.acquire))
                .count();
        require(batches == (place == Stage.BATCH ? 1 : 0), () -> "Batches: " + batches + ", " + caller);
    }

    static void require(boolean met, Supplier<String> otherwise) {
        if (!met) {
            throw new AssertionError(otherwise.get());
        }
    }

    /** All is over: nothing is left anywhere. */
    void checkEmpty() {
        assertThat(participants.callers()).as("answered").allMatch(each -> each.answers == 1);
        assertThat(database.held()).as("held by nobody").isEmpty();
        assertThat(queue.needsPolls()).isEqualTo(false);
        assertThat(queue.hasKeptAlive()).isEqualTo(false);
        assertThat(queue.isBusy()).isEqualTo(false);
        assertThat(queue.nanosToWork()).isEqualTo(Long.MAX_VALUE);
        assertThat(queue.take(true, false).members()).isEmpty();
    }
}
