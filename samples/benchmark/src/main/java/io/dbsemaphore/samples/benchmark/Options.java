package io.dbsemaphore.samples.benchmark;

import io.dbsemaphore.samples.benchmark.cost.Cost;
import io.dbsemaphore.samples.benchmark.cost.Scale;
import io.dbsemaphore.samples.benchmark.database.Target;
import io.dbsemaphore.samples.benchmark.throughput.Workload;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What to measure, and where.
 *
 * @param target the database; empty for a container
 * @param redis the address of a Redis, if there is one
 * @param length how long one round of one contestant is
 * @param warmUp how long each contestant runs before anything counts
 * @param rounds how many rounds each contestant has
 * @param only the ids of the workloads and costs to measure
 * @param scale how full the tables get
 * @param output where the files go
 */
record Options(
        Optional<Target> target,
        @Nullable String redis,
        Duration length,
        Duration warmUp,
        int rounds,
        Set<String> only,
        Scale scale,
        Path output) {

    static final String USAGE = """
            --url=jdbc:...     the database to measure on, an empty one or one for tests; tables bench_* are dropped and
            --user= --password=  made. Without a URL: MySQL 9.7 in a container
            --redis=redis://..  measures Redisson, too
            --seconds=5        how long one round of one contestant is
            --rounds=5         how many rounds each contestant has
            --warm-up=45       how many seconds each contestant runs before anything counts
            --quick            two rounds of 0.7 s, and tables that are less full
            --only=a,b         of %s
            --output=          where the files go, by default target/benchmark""".formatted(String.join(", ", all()));

    private static final Set<String> NAMES =
            Set.of("url", "user", "password", "redis", "seconds", "warm-up", "rounds", "quick", "only", "output");

    /** @throws IllegalArgumentException saying what is wrong */
    static Options parse(String... arguments) {
        Map<String, String> values = new LinkedHashMap<>();
        for (String argument : arguments) {
            String[] parts = argument.replaceFirst("^--", "").split("=", 2);
            if (!argument.startsWith("--") || !NAMES.contains(parts[0])) {
                throw new IllegalArgumentException("Unknown: " + argument);
            }
            values.put(parts[0], parts.length == 2 ? parts[1] : "");
        }
        boolean quick = values.containsKey("quick");
        String url = values.get("url");
        return new Options(
                Optional.ofNullable(url)
                        .map(given -> new Target(
                                given, values.getOrDefault("user", ""), values.getOrDefault("password", ""))),
                values.get("redis"),
                seconds(values.getOrDefault("seconds", quick ? "0.7" : "5")),
                seconds(values.getOrDefault("warm-up", quick ? "3" : "45")),
                Integer.parseInt(values.getOrDefault("rounds", quick ? "2" : "5")),
                only(values.get("only")),
                quick ? Scale.QUICK : Scale.FULL,
                Path.of(values.getOrDefault("output", "target/benchmark")));
    }

    private static Duration seconds(String seconds) {
        return Duration.ofMillis(Math.round(Double.parseDouble(seconds) * 1000));
    }

    private static Set<String> only(@Nullable String list) {
        if (list == null) {
            return all();
        }
        Set<String> wanted = new LinkedHashSet<>(List.of(list.split(",")));
        if (!all().containsAll(wanted)) {
            throw new IllegalArgumentException("--only knows " + String.join(", ", all()));
        }
        return wanted;
    }

    private static Set<String> all() {
        return Stream.concat(
                        Workload.measured().stream().map(Workload::id),
                        Arrays.stream(Cost.Kind.values()).map(Cost.Kind::id))
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }
}
