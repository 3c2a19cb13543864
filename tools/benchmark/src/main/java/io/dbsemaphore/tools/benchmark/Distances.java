package io.dbsemaphore.tools.benchmark;

import io.dbsemaphore.tools.benchmark.approach.Target;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The distances from which a run measures, by their delays. */
final class Distances implements AutoCloseable {

    private final Map<Duration, Distance> byDelay = new LinkedHashMap<>();

    Distances(List<Duration> delays, Target direct) throws IOException {
        try {
            for (Duration delay : delays) {
                byDelay.put(delay, new Distance(delay, direct));
            }
        } catch (IOException | RuntimeException failure) {
            close();
            throw failure;
        }
    }

    Distance get(Duration delay) {
        return Objects.requireNonNull(byDelay.get(delay));
    }

    /** {@linkplain Distance#check Measures} each delay; one line for each. */
    List<String> check() throws IOException, SQLException {
        List<String> lines = new ArrayList<>();
        for (Map.Entry<Duration, Distance> each : byDelay.entrySet()) {
            if (!each.getKey().isZero()) {
                lines.add(each.getValue().check());
            }
        }
        return lines;
    }

    @Override
    public void close() throws IOException {
        for (Distance distance : byDelay.values()) {
            distance.close();
        }
    }
}
