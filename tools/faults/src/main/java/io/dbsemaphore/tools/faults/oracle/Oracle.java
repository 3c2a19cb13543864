package io.dbsemaphore.tools.faults.oracle;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Considers what clients were told and when, by one clock, and finds contradictions to what the library promises. It knows no
 * tables. Thread-safe; events are considered in the order in which they are given.
 */
public final class Oracle {

    private static final long BEGIN = System.nanoTime();

    private final long leased;
    private final Findings findings;
    private final IdempotentGrants idempotent;
    private final ProtectedWrites writes;
    private final Outages outages = new Outages();
    private final Recoveries recoveries;
    private final ReleaseOutcomes releases;
    private final FairShares shares;
    private final Growth growth = new Growth();
    private final List<Check> checks;
    private final Map<String, Hold> open = new HashMap<>();
    private final Map<String, List<Event>> killedWith = new HashMap<>();
    private final List<String> unknown = new ArrayList<>();
    private final Map<Event.Kind, Long> counts = new EnumMap<>(Event.Kind.class);
    private final Map<String, Long> faults = new TreeMap<>();
    private final Map<String, Long> failures = new TreeMap<>();
    private final Set<String> served = new HashSet<>();
    private final ServerClock clock = new ServerClock();
    private long reused;

    /**
     * Makes an oracle.
     *
     * @param capacities of all semaphores
     * @param reusing the semaphores whose permits are reused
     * @param instanceTimeout after which the permits of a killed client are available
     * @param tolerance how much later its successor may be granted them
     */
    public Oracle(
            Map<String, Integer> capacities,
            Set<String> reusing,
            Duration instanceTimeout,
            Duration tolerance,
            Findings findings) {
        this.findings = findings;
        // A grant is only made, and a permit only reused, while a third of the instance's time is left
        leased = instanceTimeout.toNanos() / 4;
        idempotent = new IdempotentGrants(findings);
        writes = new ProtectedWrites(findings);
        recoveries = new Recoveries(instanceTimeout, tolerance, findings);
        releases = new ReleaseOutcomes(capacities);
        shares = new FairShares(findings);
        checks = List.of(
                new OverGrants(capacities, findings),
                new FencingOrder(reusing, findings),
                idempotent,
                writes,
                outages,
                recoveries,
                releases,
                shares,
                growth);
    }

    /** Considers an event. */
    public synchronized void accept(Event event) {
        if (killedWith.containsKey(event.client())) {
            return;
        }
        counts.merge(event.kind(), 1L, Long::sum);
        Hold hold = event.request().isEmpty() ? null : update(event);
        clock.accept(event, hold, open.values());
        checks.forEach(check -> check.accept(event, hold));
        switch (event.kind()) {
            case REFUSED, FAILED, UNKNOWN -> endUnlessGranted(hold);
            case RELEASED -> end(hold);
            case KILLED -> kill(event);
            case FAULT -> faults.merge(event.detail(), 1L, Long::sum);
            default -> {}
        }
    }

    private void kill(Event event) {
        List<Hold> killed = open.values().stream()
                .filter(hold -> hold.client.equals(event.client()))
                .toList();
        killedWith.put(
                event.client(),
                killed.stream()
                        .filter(hold -> !hold.externalId.isEmpty())
                        .map(Hold::acquiring)
                        .toList());
        killed.forEach(hold -> {
            hold.ends(event.nanos());
            end(hold);
        });
    }

    /** The acquires with an external id that this client was killed with. */
    public synchronized List<Event> killedWith(String client) {
        return killedWith.getOrDefault(client, List.of());
    }

    private @Nullable Hold update(Event event) {
        Hold hold = open.get(event.request());
        if (event.kind() == Event.Kind.ACQUIRING) {
            if (hold == null) {
                hold = new Hold(event, leased);
                open.put(event.request(), hold);
            } else {
                hold.asksAgain(event.nanos());
            }
        } else if (hold != null) {
            update(hold, event);
        }
        return hold;
    }

    private void update(Hold hold, Event event) {
        switch (event.kind()) {
            case GRANTED -> {
                hold.isGranted(event);
                served.add(event.client());
                reused += hold.reused ? 1 : 0;
            }
            case WRITING -> hold.writes(event.nanos());
            case WRITTEN -> hold.isWritten();
            case RELEASING -> hold.isReleasing(event);
            case RELEASED -> hold.isReleased(event);
            case FAILED -> failures.merge(event.detail(), 1L, Long::sum);
            case UNKNOWN -> unknown.add(event.externalId());
            default -> {}
        }
    }

    /** Where the repetition of a granted acquire fails, the caller still releases the grant. */
    private void endUnlessGranted(@Nullable Hold hold) {
        if (hold != null && hold.granted) {
            hold.isInDoubt();
        } else {
            end(hold);
        }
    }

    private void end(@Nullable Hold hold) {
        if (hold != null) {
            open.remove(hold.request);
            checks.forEach(check -> check.ended(hold));
        }
    }

    /** Ends the run, when all clients have stopped. */
    public synchronized void finish() {
        List.copyOf(open.values()).forEach(hold -> {
            if (!hold.granted) {
                findings.add(
                        Findings.Kind.UNRESOLVED,
                        "%s, which acquired at %s, was never answered"
                                .formatted(hold.request, time(hold.firstAskedAt)));
            }
            end(hold);
        });
        checks.forEach(Check::finish);
    }

    /** Whether this client has been granted anything yet. */
    public synchronized boolean hasServed(String client) {
        return served.contains(client);
    }

    /** The external ids of the acquires whose outcome is unknown to their callers. */
    public synchronized List<String> unknown() {
        return List.copyOf(unknown);
    }

    /** The figures of the run so far. */
    public synchronized Figures figures() {
        return new Figures(
                new EnumMap<>(counts),
                new TreeMap<>(faults),
                new TreeMap<>(failures),
                reused,
                idempotent.repeated(),
                writes.written(),
                writes.refused(),
                outages.longest(),
                outages.afterReady(),
                recoveries.count(),
                recoveries.undisturbed(),
                recoveries.longest(),
                releases.overstated(),
                shares.judged(),
                shares.most(),
                growth.lines());
    }

    /** A time of events as seconds since the start of this process. */
    static String time(long nanos) {
        return String.format(Locale.ROOT, "%.3f s", TimeUnit.NANOSECONDS.toMicros(nanos - BEGIN) / 1e6);
    }
}
