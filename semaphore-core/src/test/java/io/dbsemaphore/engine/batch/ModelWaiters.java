package io.dbsemaphore.engine.batch;

import static io.dbsemaphore.engine.batch.QueueModel.require;

import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.engine.batch.Acquire.Stage;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.Place;
import io.dbsemaphore.line.Waiter;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Which of the waiting callers a step must have woken: those that are first, if what they wait for is available. */
final class ModelWaiters {

    /** Callers are served in the order of their places. */
    static final Comparator<ModelCaller> IN_ORDER = Comparator.<ModelCaller, Place>comparing(
                    each -> each.state().place())
            .thenComparing(each -> each.acquire.ticket());

    private final ModelParticipants participants;
    /** At least so much is available. It is not known exactly: the queue's idea of the database's clock, and so of the window, may be late. */
    private final ModelAvailability least = new ModelAvailability();

    private final ModelAvailability most = new ModelAvailability();
    private final Map<ModelCaller, Map<String, Long>> waiting = new LinkedHashMap<>();
    private @Nullable ModelCaller leaving;
    private long now;

    ModelWaiters(ModelParticipants participants) {
        this.participants = participants;
    }

    /** A step begins. */
    void begin(long nanos) {
        now = nanos;
        leaving = null;
        update();
    }

    private void update() {
        waiting.clear();
        waiting.putAll(participants.waiting());
    }

    /** This caller may leave by this step, and is not woken. */
    void leaves(ModelCaller caller) {
        leaving = caller;
    }

    /** The semaphores that somebody waits for. */
    Set<String> names() {
        Set<String> names = new TreeSet<>();
        waiting.values().forEach(each -> names.addAll(each.keySet()));
        return names;
    }

    /** What a poll tells other instances of a line: the first callers in the order of their places, and the earliest arrival of all. */
    LineHead head(String name) {
        List<Waiter> all = waiting.keySet().stream()
                .filter(each -> waiting.get(each).containsKey(name))
                .sorted(IN_ORDER)
                .map(each -> each.state().toWaiter(name))
                .toList();
        return LineHead.EMPTY.with(all);
    }

    void finished(ModelFlight flight) {
        for (int i = 0; i < flight.result().outcomes().size(); i++) {
            ModelCaller member = participants.callerOf(flight.batch.members().get(i));
            if (flight.result().outcomes().get(i) instanceof GrantOutcome.Refused
                    && (member.stage() == Stage.READY || member.stage() == Stage.LINE)) {
                waiting.put(member, participants.askedBy(member));
            }
        }
        flight.result().availability().forEach((name, left) -> {
            if (first(name) != null) {
                Stream.of(least, most).forEach(each -> each.left(name, left, flight.changes(name), now));
            }
        });
    }

    private @Nullable ModelCaller first(String name) {
        return waiting.entrySet().stream()
                .filter(each -> each.getValue().containsKey(name))
                .map(Map.Entry::getKey)
                .min(IN_ORDER)
                .orElse(null);
    }

    /** Permits were released, or promised to a caller. */
    void changed(String name, long permits) {
        Stream.of(least, most).forEach(each -> each.changed(name, permits, now));
        participants.flights().forEach(each -> each.changed(name, permits));
    }

    void polled(Map<String, RemainingAvailability> polled, long asOf) {
        polled.forEach((name, seen) -> {
            if (first(name) != null && participants.flights().stream().noneMatch(each -> each.keeps(name, now))) {
                Stream.of(least, most).forEach(each -> each.polled(name, seen, asOf));
            }
        });
    }

    void wakeFirst(String name) {
        ModelCaller first = first(name);
        if (first != null) {
            long asked = waiting.get(first).get(name);
            Stream.of(least, most).forEach(each -> each.raise(name, asked));
            waiting.keySet().stream()
                    .filter(each -> waiting.get(each).keySet().equals(Set.of(name)))
                    .min(IN_ORDER)
                    .ifPresent(second -> {
                        if (!isEnoughFor(first, most, ModelWaiters::isOfOne)) {
                            least.raise(name, needed(second, name, ModelWaiters::isOfOne));
                        }
                        if (!isEnoughFor(first, least, each -> true)) {
                            most.raise(name, needed(second, name, each -> true));
                        }
                    });
        }
    }

    /** A step is over. */
    void end() {
        waiting.entrySet().stream()
                .filter(each -> each.getKey() != leaving && each.getKey().stage() == Stage.READY)
                .sorted(Map.Entry.comparingByKey(IN_ORDER))
                .forEach(each -> each.getValue().forEach((name, asked) -> {
                    require(most.of(name) >= asked, () -> "Woken, but too few of " + name + ": " + each);
                    changed(name, -asked);
                }));
        update();
        Stream.of(least, most).forEach(each -> each.keepOnly(names()));
        waiting.keySet()
                .forEach(caller -> require(
                        !isEnoughFor(caller, least, each -> true),
                        () -> "It is its turn, and it was not woken: " + caller));
    }

    private boolean isEnoughFor(ModelCaller caller, ModelAvailability available, Predicate<ModelCaller> withheldFor) {
        return waiting.get(caller).keySet().stream()
                .allMatch(name -> available.of(name) >= needed(caller, name, withheldFor));
    }

    /** How many permits it asks for, with those of them who came before it. */
    private long needed(ModelCaller caller, String name, Predicate<ModelCaller> withheldFor) {
        return waiting.get(caller).get(name)
                + waiting.entrySet().stream()
                        .filter(each -> IN_ORDER.compare(each.getKey(), caller) < 0 && withheldFor.test(each.getKey()))
                        .mapToLong(each -> each.getValue().containsKey(name)
                                        && each.getKey().state().command().exclusive()
                                ? Integer.MAX_VALUE
                                : each.getValue().getOrDefault(name, 0L))
                        .sum();
    }

    /** Permits are withheld for it at any time, and for others while the window is open. */
    private static boolean isOfOne(ModelCaller caller) {
        return !caller.state().isOfSeveral();
    }
}
