package io.dbsemaphore.engine.batch;

import static io.dbsemaphore.engine.batch.QueueModel.require;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.domain.Demand;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.Place;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.engine.batch.Acquire.Stage;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Which of the waiting callers a step must have woken: those that are first, if what they wait for is available. */
final class ModelWaiters {

    /** Callers are served in the order of their places. */
    static final Comparator<ModelCaller> IN_ORDER = Comparator.<ModelCaller, Place>comparing(
                    each -> each.state().place())
            .thenComparing(each -> each.acquire.ticket());

    private final ModelParticipants participants;
    private final ModelAvailability available = new ModelAvailability();
    private final Map<ModelCaller, Map<String, Long>> waiting = new LinkedHashMap<>();
    private final Map<ModelCaller, Set<String>> queuedFor = new HashMap<>();
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

    void finished(ModelFlight flight) {
        for (int i = 0; i < flight.result().outcomes().size(); i++) {
            ModelCaller member = participants.callerOf(flight.batch.members().get(i));
            if (flight.result().outcomes().get(i) instanceof GrantOutcome.Refused refused
                    && (member.stage() == Stage.READY || member.stage() == Stage.WAIT_QUEUE)) {
                Map<String, Long> asked = new HashMap<>();
                member.state()
                        .command()
                        .permits()
                        .forEach((name, count) -> asked.put(name, requested(flight, member, name, count)));
                waiting.put(member, asked);
                queuedFor.put(member, namesOf(refused));
            }
        }
        flight.result().availability().forEach((name, left) -> {
            ModelCaller first = first(name);
            if (first != null) {
                boolean wasRefused = flight.batch.members().contains(first.acquire)
                        && first.state().demandAhead(name).equals(Demand.NONE)
                        && queuedFor.getOrDefault(first, Set.of()).contains(name);
                long atMost = wasRefused ? waiting.get(first).get(name) - 1 : Long.MAX_VALUE;
                available.left(name, left, flight.changes(name), atMost, now);
            }
        });
    }

    private static long requested(ModelFlight flight, ModelCaller member, String name, int count) {
        return member.state().command().exclusive()
                ? flight.result().availability().get(name).capacity()
                : count;
    }

    private static Set<String> namesOf(GrantOutcome.Refused refused) {
        return refused.shortages().stream().map(PermitShortage::name).collect(Collectors.toSet());
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
        available.changed(name, permits, now);
        participants.flights().forEach(each -> each.changed(name, permits));
    }

    void polled(Map<String, RemainingAvailability> polled, long asOf) {
        polled.forEach((name, seen) -> {
            if (first(name) != null && participants.flights().stream().noneMatch(each -> each.keeps(name, now))) {
                available.polled(name, seen, asOf);
            }
        });
    }

    void wakeFirst(String name) {
        ModelCaller first = first(name);
        if (first != null) {
            available.raise(name, waiting.get(first).get(name));
        }
    }

    /** A step is over. */
    void end() {
        waiting.entrySet().stream()
                .filter(each -> each.getKey() != leaving && each.getKey().stage() == Stage.READY)
                .sorted(Map.Entry.comparingByKey(IN_ORDER))
                .forEach(each -> each.getValue().forEach((name, asked) -> {
                    require(available.of(name) >= asked, () -> "Woken, but too few of " + name + ": " + each);
                    changed(name, -asked);
                }));
        update();
        available.keepOnly(names());
        waiting.forEach((caller, asked) -> require(
                !asked.entrySet().stream()
                        .allMatch(
                                each -> available.of(each.getKey()) >= each.getValue() + ahead(caller, each.getKey())),
                () -> "It is its turn, and it was not woken: " + caller));
    }

    /** How many permits those ask for who came before it. */
    private long ahead(ModelCaller caller, String name) {
        return waiting.entrySet().stream()
                .filter(each -> IN_ORDER.compare(each.getKey(), caller) < 0)
                .mapToLong(each -> each.getValue().containsKey(name)
                                && each.getKey().state().command().exclusive()
                        ? Integer.MAX_VALUE
                        : each.getValue().getOrDefault(name, 0L))
                .sum();
    }
}
