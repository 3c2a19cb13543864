package io.dbsemaphore.engine.reuse;

import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import org.springframework.util.PatternMatchUtils;

/** How long permits of a semaphore may be reused, by its name or by a glob. Of several globs that match, the longest counts. */
public final class ReuseTimes {

    private static final Comparator<Map.Entry<String, Duration>> LONGEST_FIRST =
            Comparator.<Map.Entry<String, Duration>>comparingInt(
                            each -> -each.getKey().length())
                    .thenComparing(Map.Entry::getKey);

    private final Map<String, Duration> times;

    public ReuseTimes(Map<String, Duration> times) {
        this.times = Map.copyOf(times);
    }

    boolean isEmpty() {
        return times.isEmpty();
    }

    /** The reuse time; empty if the permits are not to be reused. */
    Optional<Duration> of(String name) {
        Duration own = times.get(name);
        Optional<Duration> time = own != null
                ? Optional.of(own)
                : times.entrySet().stream()
                        .filter(each -> PatternMatchUtils.simpleMatch(each.getKey(), name))
                        .min(LONGEST_FIRST)
                        .map(Map.Entry::getValue);
        return time.filter(each -> !each.isZero());
    }
}
