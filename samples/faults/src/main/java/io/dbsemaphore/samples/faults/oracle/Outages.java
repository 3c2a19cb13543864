package io.dbsemaphore.samples.faults.oracle;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Measures for how long no client is granted anything, at any time and after the server has become ready again. */
final class Outages implements Check {

    private final List<Long> afterReady = new ArrayList<>();
    private long lastGrantAt;
    private long longest;
    private long readyAt;

    @Override
    public void accept(Event event, @Nullable Hold hold) {
        if (event.kind() == Event.Kind.SERVER_READY) {
            readyAt = event.nanos();
        } else if (event.kind() == Event.Kind.SERVER_DOWN) {
            readyAt = 0;
        } else if (event.kind() == Event.Kind.GRANTED) {
            if (lastGrantAt != 0) {
                longest = Math.max(longest, event.nanos() - lastGrantAt);
            }
            lastGrantAt = event.nanos();
            if (readyAt != 0) {
                afterReady.add(event.nanos() - readyAt);
                readyAt = 0;
            }
        }
    }

    Duration longest() {
        return Duration.ofNanos(longest);
    }

    /** From the moment at which the server answers again to the first grant: the median and the longest. */
    List<Duration> afterReady() {
        if (afterReady.isEmpty()) {
            return List.of();
        }
        List<Long> sorted = new ArrayList<>(afterReady);
        Collections.sort(sorted);
        return List.of(
                Duration.ofNanos(sorted.get(sorted.size() / 2)), Duration.ofNanos(sorted.get(sorted.size() - 1)));
    }
}
