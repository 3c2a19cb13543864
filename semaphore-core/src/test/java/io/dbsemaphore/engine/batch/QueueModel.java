package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.PolledAvailability;
import io.dbsemaphore.engine.batch.QueuedAcquire.Place;
import io.dbsemaphore.jdbc.SqlErrors;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What a {@link GrantQueue} must have done after each step of a schedule, from what its callers see of it. */
final class QueueModel {

    private static final long STALLED_AFTER = Duration.ofMillis(250).toNanos();

    /** For so long after a conflict a semaphore may be passed over. */
    private static final long CONFLICT = Duration.ofMillis(2_200).toNanos();

    /** Callers are served in the order of their first refusal. */
    private static final Comparator<Caller> IN_ORDER = Comparator.<Caller>comparingLong(
                    each -> each.acquire.state().since())
            .thenComparing(each -> each.acquire.ticket());

    private final GrantQueue queue;
    private final ModelDatabase database;
    private final int maxBatchSize;
    private final List<Caller> callers = new ArrayList<>();
    private final List<Flight> flights = new ArrayList<>();
    private final ModelAvailability available = new ModelAvailability();
    private final Map<String, Long> conflictAt = new HashMap<>();
    private final Map<Caller, Map<String, Long>> waiting = new LinkedHashMap<>();
    private @Nullable Caller leaving;
    private int numbers;
    private long now;
    private boolean closed;

    /** A caller, and how it was answered. */
    static final class Caller {

        private final int number;
        private final QueuedAcquire acquire;
        private int answers;
        private int decisions;
        private boolean gone;

        Caller(int number, QueuedAcquire acquire) {
            this.number = number;
            this.acquire = acquire;
        }

        QueuedAcquire acquire() {
            return acquire;
        }

        /** It was told that its outcome is unknown. */
        void isGone() {
            gone = true;
        }

        private boolean isOutstanding() {
            return answers == 0 || acquire.place() != Place.DONE;
        }

        @Override
        public String toString() {
            AcquireCommand command = acquire.state().command();
            return "c" + number + command.permits() + (command.isKeptAlive() ? "kept" : "")
                    + (acquire.hasWaitTime() ? "" : "!") + "@" + acquire.place();
        }
    }

    /** A batch from the moment it is taken until the queue knows how it ended. */
    static final class Flight {

        private final int number;
        private final AcquireBatch batch;
        private final long takenAt;
        private final Map<Caller, Map<String, Long>> waiting;
        private final Map<String, Long> changes = new HashMap<>();
        private @Nullable BatchResult result;
        private List<AcquireCommand> grants = List.of();

        Flight(int number, AcquireBatch batch, long takenAt, Map<Caller, Map<String, Long>> waiting) {
            this.number = number;
            this.batch = batch;
            this.takenAt = takenAt;
            this.waiting = waiting;
        }

        AcquireBatch batch() {
            return batch;
        }

        BatchResult result() {
            return java.util.Objects.requireNonNull(result);
        }

        boolean isDecided() {
            return result != null;
        }

        void decided(BatchResult result, List<AcquireCommand> grants) {
            this.result = result;
            this.grants = grants;
        }

        List<AcquireCommand> grants() {
            return grants;
        }

        private boolean keeps(String name, long now) {
            boolean stalled = now - takenAt > STALLED_AFTER;
            return batch.names().contains(name)
                    && (batch.awaited().isEmpty() || batch.awaited().contains(name) || !stalled);
        }

        @Override
        public String toString() {
            return "batch " + number + (batch.isWaiting() ? " waiting for " + batch.awaited() : "")
                    + (result == null
                            ? ""
                            : result.outcomes().stream()
                                    .map(outcome -> outcome.getClass().getSimpleName())
                                    .toList());
        }
    }

    QueueModel(GrantQueue queue, ModelDatabase database, int maxBatchSize) {
        this.queue = queue;
        this.database = database;
        this.maxBatchSize = maxBatchSize;
    }

    int nextNumber() {
        return ++numbers;
    }

    List<Flight> flights() {
        return flights;
    }

    Flight lastFlight() {
        return flights.get(flights.size() - 1);
    }

    @Nullable Flight flight(Random choice, boolean decided) {
        List<Flight> some =
                flights.stream().filter(each -> each.isDecided() == decided).toList();
        return some.isEmpty() ? null : some.get(choice.nextInt(some.size()));
    }

    @Nullable Caller caller(Random choice) {
        List<Caller> some = callers.stream().filter(each -> each.answers == 0).toList();
        return some.isEmpty() ? null : some.get(choice.nextInt(some.size()));
    }

    boolean isAllAnswered() {
        return callers.stream().noneMatch(Caller::isOutstanding);
    }

    List<Caller> outstanding() {
        return callers.stream().filter(Caller::isOutstanding).toList();
    }

    private Caller of(QueuedAcquire acquire) {
        return callers.stream()
                .filter(each -> each.acquire == acquire)
                .findFirst()
                .orElseThrow();
    }

    /** A step begins. */
    void begin(long nanos) {
        now = nanos;
        leaving = null;
        waiting.clear();
        waiting.putAll(waitingNow());
    }

    private Map<Caller, Map<String, Long>> waitingNow() {
        Map<Caller, Map<String, Long>> all = new LinkedHashMap<>();
        callers.stream()
                .filter(each -> each.acquire.place() == Place.WAIT_QUEUE)
                .forEach(each -> all.put(each, Map.copyOf(each.acquire.shortOf())));
        return all;
    }

    String add(Caller caller) {
        try {
            boolean tried = queue.add(caller.acquire);
            assertThat(closed).as("added although closed").isEqualTo(false);
            callers.add(caller);
            assertThat(caller.acquire.place()).isEqualTo(tried ? Place.QUEUE : Place.WAIT_QUEUE);
            return "adds " + caller;
        } catch (SemaphoreClosedException failure) {
            assertThat(closed).as("refused since closed").isEqualTo(true);
            return "-";
        }
    }

    String take(boolean withKeptAlive, boolean mayWait, boolean takesReleases, long nanos) {
        List<Caller> queued = callers.stream()
                .filter(each -> each.acquire.place() == Place.QUEUE)
                .toList();
        long toWork = queue.nanosToWork();
        AcquireBatch batch = queue.take(withKeptAlive, mayWait, takesReleases);
        Flight flight = new Flight(nextNumber(), batch, nanos, waitingNow());
        List<Caller> members = batch.members().stream().map(this::of).toList();
        if (withKeptAlive) {
            assertThat(toWork <= 0).as("work: " + toWork).isEqualTo(!members.isEmpty());
        }
        assertThat(members).as("once").doesNotHaveDuplicates().isSubsetOf(queued);
        assertThat(members.size()).as("members").isLessThanOrEqualTo(maxBatchSize);
        if (members.size() > 1) {
            assertThat(batch.names().size()).as("names").isLessThanOrEqualTo(200);
            assertThat(members).as("isolated").noneMatch(each -> each.acquire.isIsolated());
        }
        assertThat(members.stream().map(each -> each.acquire.state().command().externalId()))
                .as("external ids")
                .doesNotHaveDuplicates();
        for (Flight other : flights) {
            assertThat(batch.names()).as("in flight by " + other).noneMatch(name -> other.keeps(name, nanos));
        }
        if (closed) {
            assertThat(members)
                    .as("after close")
                    .allMatch(each -> each.acquire.state().isOutcomeUnknown());
        }
        queued.stream()
                .filter(each -> !members.contains(each) && mayNotBeOvertaken(each, withKeptAlive))
                .forEach(each -> assertThat(members)
                        .as("overtakes " + each)
                        .noneMatch(member -> member.acquire.ticket() > each.acquire.ticket()
                                && each.acquire.names().stream().anyMatch(member.acquire.names()::contains)));
        flights.add(flight);
        return "takes " + flight + members;
    }

    private boolean mayNotBeOvertaken(Caller caller, boolean withKeptAlive) {
        return (withKeptAlive || !caller.acquire.state().command().isKeptAlive())
                && caller.acquire.notBefore().remainingNanos(now) <= 0
                && caller.acquire.names().stream()
                        .noneMatch(name -> now - conflictAt.getOrDefault(name, now - CONFLICT) < CONFLICT
                                || flights.stream()
                                        .anyMatch(each -> each.batch.names().contains(name)
                                                && now - each.takenAt > STALLED_AFTER));
    }

    /** Those who came later are granted nothing of what those wait for who came before. */
    void decided(Flight flight) {
        Map<Caller, Map<String, Long>> still = waitingNow();
        for (QueuedAcquire member : flight.batch.members()) {
            if (flight.grants.contains(member.state().command())) {
                for (String name : member.names()) {
                    long ahead = flight.waiting.entrySet().stream()
                            .filter(each -> IN_ORDER.compare(each.getKey(), of(member)) < 0)
                            .filter(each -> still.containsKey(each.getKey()))
                            .mapToLong(each -> each.getValue().getOrDefault(name, 0L))
                            .sum();
                    assertThat(ahead == 0 ? 0 : database.free(name))
                            .as("left of " + name + " by " + of(member))
                            .isGreaterThanOrEqualTo(ahead);
                }
            }
        }
    }

    void ends(Flight flight) {
        flights.remove(flight);
    }

    void finished(Flight flight, BatchSettlement.Result settled) {
        BatchResult result = flight.result();
        for (int i = 0; i < result.outcomes().size(); i++) {
            QueuedAcquire member = flight.batch.members().get(i);
            if (result.outcomes().get(i) instanceof GrantOutcome.Refused refused
                    && (member.place() == Place.QUEUE || member.place() == Place.WAIT_QUEUE)) {
                waiting.put(
                        of(member),
                        refused.shortages().stream()
                                .collect(
                                        Collectors.toMap(each -> each.name(), each -> Math.max(1L, each.requested()))));
            }
        }
        result.availability().forEach((name, left) -> {
            Caller first = first(name);
            if (first != null) {
                boolean wasRefused = flight.batch.members().contains(first.acquire)
                        && first.acquire.state().demandAhead(name) == 0;
                long atMost = wasRefused ? waiting.get(first).get(name) - 1 : Long.MAX_VALUE;
                available.left(name, left, flight.changes.getOrDefault(name, 0L), atMost, now);
            }
        });
        answer(settled);
    }

    private @Nullable Caller first(String name) {
        return waiting.entrySet().stream()
                .filter(each -> each.getValue().containsKey(name))
                .map(Map.Entry::getKey)
                .min(IN_ORDER)
                .orElse(null);
    }

    void failed(Flight flight, BatchSettlement.Result settled, Throwable failure) {
        if (SqlErrors.isVictim(failure)) {
            flight.batch.names().forEach(name -> conflictAt.put(name, now));
        }
        answer(settled);
    }

    private void answer(BatchSettlement.Result settled) {
        settled.decided().stream().map(this::of).forEach(caller -> {
            assertThat(caller.acquire.answer())
                    .as("told under the lock: " + caller)
                    .isNotDone();
            caller.acquire.complete();
            caller.decisions++;
            told(caller);
        });
    }

    /** Whoever is told of a failure, and not that the outcome is unknown, makes sure itself that nothing is held. */
    private void told(Caller caller) {
        if (!caller.gone) {
            caller.answers++;
            if (caller.acquire.state().isOutcomeUnknown()) {
                database.undo(caller.acquire.state());
            }
        }
    }

    void released(Map<String, Integer> counts) {
        counts.forEach((name, count) -> changed(name, count));
    }

    private void changed(String name, long permits) {
        available.changed(name, permits, now);
        flights.stream()
                .filter(each -> each.batch.names().contains(name))
                .forEach(each -> each.changes.merge(name, permits, Long::sum));
    }

    void polled(Map<String, PolledAvailability> polled, long asOf) {
        polled.forEach((name, seen) -> {
            if (first(name) != null && flights.stream().noneMatch(each -> each.keeps(name, now))) {
                available.polled(name, seen, asOf);
            }
        });
    }

    void wakeFirst(String name) {
        Caller first = first(name);
        if (first != null) {
            available.raise(name, waiting.get(first).get(name));
        }
    }

    /** A caller may have left. */
    String left(Caller caller, boolean left) {
        leaving = caller;
        if (left || caller.gone) {
            caller.answers++;
        }
        if (left && caller.acquire.state().isOutcomeUnknown()) {
            database.undo(caller.acquire.state());
        }
        return String.valueOf(left);
    }

    void close() {
        List<Caller> there = callers.stream()
                .filter(each -> each.acquire.place() == Place.QUEUE || each.acquire.place() == Place.WAIT_QUEUE)
                .toList();
        List<Caller> told = queue.close().stream().map(this::of).toList();
        assertThat(told).as("told that it is closed").containsExactlyInAnyOrderElementsOf(there);
        told.forEach(this::told);
        closed = true;
    }

    /** A step is over. */
    void end() {
        waiting.entrySet().stream()
                .filter(each ->
                        each.getKey() != leaving && each.getKey().acquire.place() == Place.QUEUE)
                .sorted(Map.Entry.comparingByKey(IN_ORDER))
                .forEach(each -> each.getValue().forEach((name, asked) -> {
                    require(available.of(name) >= asked, () -> "Woken, but too few of " + name + ": " + each);
                    changed(name, -asked);
                }));
        waiting.clear();
        waiting.putAll(waitingNow());
        Set<String> names = new TreeSet<>();
        waiting.values().forEach(each -> names.addAll(each.keySet()));
        available.keepOnly(names);
        require(
                queue.waiters().begin().names().equals(names),
                () -> "Waited for: " + queue.waiters().begin().names());
        boolean keptAlive = callers.stream()
                .anyMatch(each -> each.acquire.place() == Place.QUEUE
                        && each.acquire.state().command().isKeptAlive());
        require(queue.hasKeptAlive() == keptAlive, () -> "To be kept alive: " + !keptAlive);
        callers.forEach(this::check);
        waiting.forEach((caller, asked) -> require(
                !asked.entrySet().stream()
                        .allMatch(each ->
                                available.of(each.getKey()) >= each.getValue() && first(each.getKey()) == caller),
                () -> "It is its turn, and it was not woken: " + caller));
    }

    private void check(Caller caller) {
        Place place = caller.acquire.place();
        require(caller.answers <= 1, () -> "Answered twice: " + caller);
        require(caller.decisions <= 1, () -> "Decided twice: " + caller);
        require(
                caller.gone || (place == Place.DONE) == (caller.answers == 1),
                () -> "Answers: " + caller.answers + ", " + caller);
        require(
                caller.decisions > 0 || !caller.acquire.answer().isDone(),
                () -> "Told while the lock was held: " + caller);
        long batches = flights.stream()
                .filter(each -> place == Place.BATCH && each.batch.members().contains(caller.acquire))
                .count();
        require(batches == (place == Place.BATCH ? 1 : 0), () -> "Batches: " + batches + ", " + caller);
        require(
                caller.acquire.shortOf().isEmpty() == (place != Place.WAIT_QUEUE),
                () -> "Waits for: " + caller.acquire.shortOf() + ", " + caller);
    }

    private static void require(boolean met, Supplier<String> otherwise) {
        if (!met) {
            throw new AssertionError(otherwise.get());
        }
    }

    /** All is over: nothing is left anywhere. */
    void checkEmpty() {
        assertThat(callers).as("answered").allMatch(each -> each.answers == 1);
        assertThat(database.held()).as("held by nobody").isEmpty();
        assertThat(queue.waiters().isEmpty()).isEqualTo(true);
        assertThat(queue.hasKeptAlive()).isEqualTo(false);
        assertThat(queue.isContended()).isEqualTo(false);
        assertThat(queue.nanosToWork()).isEqualTo(Long.MAX_VALUE);
        assertThat(queue.take(true, true, false).members()).isEmpty();
    }
}
