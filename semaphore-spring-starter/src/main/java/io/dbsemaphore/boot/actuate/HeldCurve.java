package io.dbsemaphore.boot.actuate;

import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.SemaphoreAdmin.PermitUse;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The capacity of a semaphore and the number of held permits over a period. Each request adds its permits when it acquired them, and
 * subtracts them when they were released.
 */
final class HeldCurve {

    private static final int STEPS = 240;

    /** A permit that changes hands is available for a moment. The semaphore counts as full meanwhile. */
    private static final Duration HANDOVER = Duration.ofSeconds(1);

    private final Instant to;
    private final Instant since;
    private final long width;
    private final NavigableMap<Instant, Integer> capacities;
    private final NavigableMap<Instant, Long> changes = new TreeMap<>();

    /**
     * A part of the curve, which lasts until the next one.
     *
     * @param at when this step begins
     * @param held how many permits were held at once, at most
     * @param capacity the capacity, until the next one
     */
    record Step(Instant at, long held, int capacity) {}

    /**
     * Creates the curve.
     *
     * @param uses the requests that held permits within the period; if there are too many, those that are still held and the latest of the
     *     others
     * @param complete whether these are all
     * @param capacities the capacity from each time on
     */
    HeldCurve(
            List<PermitUse> uses,
            boolean complete,
            NavigableMap<Instant, Integer> capacities,
            Instant from,
            Instant to) {
        this.to = to;
        this.capacities = capacities;
        this.since = complete ? from : latest(from, oldestReleased(uses).orElse(to));
        this.width = Math.max(1, ChronoUnit.MICROS.between(from, to) / STEPS);
        uses.stream()
                .filter(use ->
                        use.releasedAt().isEmpty() || use.releasedAt().get().isAfter(since))
                .forEach(use -> {
                    add(latest(since, use.acquiredAt()), use.count());
                    use.releasedAt().ifPresent(at -> add(at, -use.count()));
                });
    }

    private static Optional<Instant> oldestReleased(List<PermitUse> uses) {
        return uses.stream()
                .filter(use -> use.releasedAt().isPresent())
                .map(PermitUse::acquiredAt)
                .min(Comparator.naturalOrder());
    }

    private static Instant latest(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }

    private void add(Instant at, long permits) {
        if (!at.isAfter(to)) {
            changes.merge(at, permits, Long::sum);
        }
    }

    /** The beginning of the known part of the curve. */
    Instant since() {
        return since;
    }

    /**
     * Returns at most 241 steps, which begin at multiples of the same duration, so that they stay the same while the period moves on, and
     * one more for each change of the capacity, where the line of the capacity meets the mark of the change.
     */
    List<Step> steps() {
        List<Step> steps = new ArrayList<>();
        long held = 0;
        Instant next = since;
        while (!next.isAfter(to)) {
            Instant begin = next;
            next = Instant.EPOCH.plus((micros(begin) / width + 1) * width, ChronoUnit.MICROS);
            Instant changed = capacities.higherKey(begin);
            next = changed != null && changed.isBefore(next) ? changed : next;
            long most = changes.containsKey(begin) ? 0 : held;
            for (long change : changes.subMap(begin, true, next, false).values()) {
                held += change;
                most = Math.max(most, held);
            }
            Step step = new Step(begin, most, capacities.floorEntry(begin).getValue());
            Step last = steps.isEmpty() ? null : steps.get(steps.size() - 1);
            if (last == null || last.held() != step.held() || last.capacity() != step.capacity()) {
                steps.add(step);
            }
        }
        return steps;
    }

    private static long micros(Instant time) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, time);
    }

    /** Since when no permit has been available; empty if one is available at the end. */
    Optional<Instant> fullSince() {
        TreeSet<Instant> times = new TreeSet<>(changes.keySet());
        times.add(since);
        times.addAll(capacities.subMap(since, true, to, true).keySet());
        long held = 0;
        @Nullable Instant full = null;
        @Nullable Instant available = null;
        for (Instant time : times) {
            held += changes.getOrDefault(time, 0L);
            if (held < capacities.floorEntry(time).getValue()) {
                available = available == null ? time : available;
            } else {
                boolean only =
                        available == null || Duration.between(available, time).compareTo(HANDOVER) < 0;
                full = full != null && only ? full : time;
                available = null;
            }
        }
        return available == null ? Optional.ofNullable(full) : Optional.empty();
    }

    /**
     * The capacity from each time on.
     *
     * @param changes the latest changes, newest first; before these, the capacity is taken to be the one before the oldest change
     * @param now the capacity now
     */
    static NavigableMap<Instant, Integer> capacities(List<CapacityChange> changes, int now) {
        NavigableMap<Instant, Integer> capacities = new TreeMap<>();
        capacities.put(Instant.MIN, now);
        changes.stream().filter(change -> change.forcedRelease().isEmpty()).forEach(change -> {
            capacities.putIfAbsent(change.changedAt(), change.to());
            capacities.put(Instant.MIN, change.from());
        });
        return capacities;
    }
}
