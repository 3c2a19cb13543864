package io.dbsemaphore.tools.faults.oracle;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Measures for how long no client is granted anything, and how soon clients work again after each restart of the server. */
final class Outages implements Check {

    private static final String CONNECTION = "connection of a pool that had none";
    private static final String GRANT = "grant";

    private final Throughput throughput = new Throughput();
    private final Map<String, List<Duration>> afterReady = new TreeMap<>();
    private long lastGrantAt;
    private long longest;
    private @Nullable Restart restart;

    /** A restart of the server, and what has followed it. */
    private record Restart(long readyAt, Set<String> had) {

        Restart(long readyAt) {
            this(readyAt, new HashSet<>());
        }
    }

    @Override
    public void accept(Event event, @Nullable Hold hold) {
        switch (event.kind()) {
            case SERVER_DOWN -> {
                restart = null;
                throughput.down(event.nanos());
            }
            case SERVER_READY -> {
                restart = new Restart(event.nanos());
                throughput.ready(event.nanos());
            }
            case CONNECTED -> first(CONNECTION, event);
            case GRANTED -> {
                if (lastGrantAt != 0) {
                    longest = Math.max(longest, event.nanos() - lastGrantAt);
                }
                lastGrantAt = event.nanos();
                throughput.granted(event.nanos());
                first(GRANT, event);
            }
            default -> {}
        }
    }

    private void first(String what, Event event) {
        if (restart != null && restart.had.add(what)) {
            afterReady
                    .computeIfAbsent(what, any -> new ArrayList<>())
                    .add(Duration.ofNanos(event.nanos() - restart.readyAt));
        }
    }

    Duration longest() {
        return Duration.ofNanos(longest);
    }

    /** From the moment at which the server answers again to what is named; an entry for each restart that was followed by it. */
    Map<String, List<Duration>> afterReady() {
        Map<String, List<Duration>> all = new TreeMap<>(afterReady);
        all.putAll(throughput.afterReady());
        return all;
    }
}
