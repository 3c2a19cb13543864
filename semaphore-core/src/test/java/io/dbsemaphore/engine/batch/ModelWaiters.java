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
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
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
    private final Map<String, ModelSharedLine> lines = new TreeMap<>();
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
        return isShared(name)
                ? lines.get(name).head(callersOf(name), LineHead.EMPTY.with(all).since())
                : LineHead.EMPTY.with(all);
    }

    private Map<ModelCaller, Long> callersOf(String name) {
        Map<ModelCaller, Long> callers = new LinkedHashMap<>();
        waiting.forEach((caller, asked) -> {
            if (asked.containsKey(name)) {
                callers.put(caller, asked.get(name));
            }
        });
        return callers;
    }

    /** Whether the callers of a semaphore are in the order of their shares. */
    boolean isShared(String name) {
        return lines.containsKey(name) && lines.get(name).isShared();
    }

    /** This caller waits without having been tried. */
    void joined(ModelCaller caller) {
        waiting.put(caller, participants.askedBy(caller));
        park(caller);
    }

    private void park(ModelCaller caller) {
        for (String name : waiting.get(caller).keySet()) {
            lines.computeIfAbsent(name, added -> new ModelSharedLine(name, participants.capacity(name)))
                    .add(caller, callersOf(name).keySet(), now);
        }
    }

    void finished(ModelFlight flight) {
        for (int i = 0; i < flight.result().outcomes().size(); i++) {
            ModelCaller member = participants.callerOf(flight.batch.members().get(i));
            if (flight.result().outcomes().get(i) instanceof GrantOutcome.Refused
                    && (member.stage() == Stage.READY || member.stage() == Stage.LINE)) {
                waiting.put(member, participants.askedBy(member));
                park(member);
            }
        }
        flight.result().availability().forEach((name, left) -> {
            if (first(name) != null) {
                Stream.of(least, most).forEach(each -> each.left(name, left, flight.changes(name), now));
                lines.get(name).answered(left, callersOf(name).keySet(), now);
            }
        });
    }

    private @Nullable ModelCaller first(String name) {
        return isShared(name) ? lines.get(name).first(callersOf(name), now, false) : firstToCome(name);
    }

    private @Nullable ModelCaller firstOfOne(String name) {
        return isShared(name)
                ? lines.get(name).first(callersOf(name), now, true)
                : waiting.keySet().stream()
                        .filter(each -> waiting.get(each).keySet().equals(Set.of(name)))
                        .min(IN_ORDER)
                        .orElse(null);
    }

    private @Nullable ModelCaller firstToCome(String name) {
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
                long promised = promisedToReady(name, isShared(name), true);
                boolean isNews = least.polled(name, seen, promised, asOf);
                if (most.polled(name, seen, promised, asOf) && isNews) {
                    lines.get(name).answered(seen, callersOf(name).keySet(), now);
                }
            }
        });
    }

    /** How many permits those expect who were woken and are not tried yet; where permits are not shared, they are tried in their order anyway. */
    long promisedToReady(String name, boolean isShared, boolean unlessHeldUp) {
        List<ModelCaller> ready = participants.callersAt(Stage.READY).stream()
                .filter(each -> each.state().hasWaited() && each.acquire.names().contains(name))
                .filter(each -> !unlessHeldUp || !isHeldUp(each))
                .toList();
        return isShared || ready.stream().anyMatch(each -> !each.state().share().isNone())
                ? ready.stream()
                        .mapToLong(each -> Objects.requireNonNull(
                                        each.state().charges().get(name))
                                .permits())
                        .sum()
                : 0;
    }

    private boolean isHeldUp(ModelCaller caller) {
        return participants.flights().stream()
                .anyMatch(flight -> caller.acquire.names().stream()
                        .anyMatch(name -> flight.keeps(name, now) && flight.isStalledOver(name, now)));
    }

    void wakeFirst(String name) {
        ModelCaller first = first(name);
        if (first != null) {
            long needed = isShared(name)
                    ? needed(first, name, each -> true)
                    : waiting.get(first).get(name);
            Stream.of(least, most).forEach(each -> each.raise(name, needed));
            ModelCaller second = firstOfOne(name);
            if (second != null && !isEnoughFor(first, most, ModelWaiters::isOfOne)) {
                least.raise(name, needed(second, name, ModelWaiters::isOfOne));
            }
            if (second != null && !isEnoughFor(first, least, each -> true)) {
                most.raise(name, needed(second, name, each -> true));
            }
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
        checkTurns();
        update();
        lines.keySet().retainAll(names());
        Stream.of(least, most).forEach(each -> each.keepOnly(names()));
        waiting.keySet()
                .forEach(caller -> require(
                        !waiting.get(caller).keySet().stream()
                                .allMatch(name -> least.of(name) >= neededInAnyCase(caller, name)),
                        () -> "It is its turn, and it was not woken: " + caller));
    }

    private boolean isEnoughFor(ModelCaller caller, ModelAvailability available, Predicate<ModelCaller> withheldFor) {
        return waiting.get(caller).keySet().stream()
                .allMatch(name -> available.of(name) >= needed(caller, name, withheldFor));
    }

    /** Where permits are shared, those who were woken have left enough to all whose turn comes before theirs. */
    private void checkTurns() {
        for (String name : names()) {
            if (isShared(name)) {
                ModelSharedLine line = lines.get(name);
                Map<ModelCaller, Long> before = callersOf(name);
                before.keySet().removeIf(each -> each == leaving && each.stage() != Stage.LINE);
                List<ModelCaller> woken = before.keySet().stream()
                        .filter(each -> each != leaving && each.stage() == Stage.READY)
                        .toList();
                if (leaving != null
                        && leaving.stage() == Stage.READY
                        && callersOf(name).containsKey(leaving)) {
                    line.tried(List.of(leaving)); // once more
                }
                for (ModelCaller each : woken) {
                    long ahead = line.ahead(each, before, line.isWindowOpen(now));
                    require(
                            ahead == 0 || most.of(name) >= ahead,
                            () -> "Woken before its turn at " + name + ": " + each + ", ahead are " + ahead);
                }
                line.tried(woken);
            }
        }
    }

    /** Whatever the window, which may have opened or closed since callers were woken. */
    private long neededInAnyCase(ModelCaller caller, String name) {
        if (!isShared(name)) {
            return needed(caller, name, each -> true);
        }
        Map<ModelCaller, Long> callers = callersOf(name);
        return callers.get(caller)
                + Math.max(
                        lines.get(name).ahead(caller, callers, true),
                        lines.get(name).ahead(caller, callers, false));
    }

    /** How many permits it asks for, with those of them whose turn is before its own. */
    private long needed(ModelCaller caller, String name, Predicate<ModelCaller> withheldFor) {
        if (isShared(name)) {
            ModelSharedLine line = lines.get(name);
            return waiting.get(caller).get(name) + line.ahead(caller, callersOf(name), line.isWindowOpen(now));
        }
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
