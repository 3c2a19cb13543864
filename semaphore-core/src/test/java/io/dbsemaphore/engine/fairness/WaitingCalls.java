package io.dbsemaphore.engine.fairness;

import io.dbsemaphore.AcquireRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** The calls of a test that wait for permits, and those that have just stopped waiting without a permit. Thread-safe. */
final class WaitingCalls {

    /** For so long other instances may withhold permits for a caller that has left. */
    private static final long WITHHELD = Duration.ofMillis(600).toNanos();

    /** A call that began earlier by more than this was refused earlier, too. */
    private static final long UNORDERED = Duration.ofSeconds(1).toNanos();

    private final List<Call> waiting = new ArrayList<>();
    private final List<Call> left = new ArrayList<>();
    private final Map<String, Integer> departures = new HashMap<>();

    /** One acquire that waits. */
    static final class Call {

        private final Map<String, Integer> permits;
        private final boolean exclusive;
        private final long since = System.nanoTime();
        private long leftAt;

        private Call(AcquireRequest request) {
            permits = request.permits();
            exclusive = request.isExclusive();
        }

        private boolean fits(Map<String, UnusedPermits.Row> rows) {
            return permits.entrySet().stream()
                    .allMatch(each -> rows.get(each.getKey())
                            .fits(exclusive ? rows.get(each.getKey()).capacity() : each.getValue()));
        }

        @Override
        public String toString() {
            return permits + (exclusive ? " exclusively" : "") + " for "
                    + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since) + " ms"
                    + (leftAt == 0 ? "" : ", has left");
        }
    }

    /** A call begins to wait. */
    synchronized Call begin(AcquireRequest request) {
        Call call = new Call(request);
        waiting.add(call);
        return call;
    }

    /** A call has its answer. */
    synchronized void end(Call call, boolean granted) {
        waiting.remove(call);
        if (!granted) {
            call.leftAt = System.nanoTime();
            left.add(call);
            call.permits.keySet().forEach(name -> departures.merge(name, 1, Integer::sum));
        }
        left.removeIf(each -> System.nanoTime() - each.leftAt > WITHHELD);
    }

    /** The number of calls that have stopped waiting for this semaphore without a permit. */
    synchronized int departuresFrom(String name) {
        return departures.getOrDefault(name, 0);
    }

    /** The calls that wait. */
    synchronized List<Call> now() {
        return List.copyOf(waiting);
    }

    /**
     * The calls one of which must be next for permits of a semaphore, if all of them fit into what is available; otherwise none.
     *
     * @param before those that waited before the availability was read
     */
    synchronized List<Call> servable(String name, List<Call> before, Map<String, UnusedPermits.Row> rows) {
        Set<String> names = connected(name);
        List<Call> inQueue = waiting.stream()
                .filter(each -> before.contains(each) && names.containsAll(each.permits.keySet()))
                .toList();
        long first = inQueue.stream().mapToLong(each -> each.since).min().orElse(0);
        List<Call> next = new ArrayList<>(
                inQueue.stream().filter(each -> each.since - first < UNORDERED).toList());
        if (next.stream().noneMatch(each -> each.permits.containsKey(name))) {
            return List.of();
        }
        left.stream()
                .filter(each -> System.nanoTime() - each.leftAt < WITHHELD && names.containsAll(each.permits.keySet()))
                .forEach(next::add);
        return next.stream().allMatch(each -> each.fits(rows)) ? next : List.of();
    }

    /** The semaphores that calls wait for which wait, directly or not, for the same as those for this one. */
    private Set<String> connected(String name) {
        Set<String> names = new HashSet<>(Set.of(name));
        List<Call> all = new ArrayList<>(waiting);
        all.addAll(left);
        boolean grown = true;
        while (grown) {
            grown = false;
            for (Call call : all) {
                if (call.permits.keySet().stream().anyMatch(names::contains)) {
                    grown |= names.addAll(call.permits.keySet());
                }
            }
        }
        return names;
    }
}
