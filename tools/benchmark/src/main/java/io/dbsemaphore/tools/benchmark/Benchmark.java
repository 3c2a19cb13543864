package io.dbsemaphore.tools.benchmark;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.tools.benchmark.approach.Approach;
import io.dbsemaphore.tools.benchmark.approach.RedisServer;
import io.dbsemaphore.tools.benchmark.approach.Tables;
import io.dbsemaphore.tools.benchmark.approach.Target;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One run: creates the tables, measures, drops the tables and reports. */
final class Benchmark {

    private final Options options;
    private final Target target;
    private final PrintStream out;

    Benchmark(Options options, Target target, PrintStream out) {
        this.options = options;
        this.target = target;
        this.out = out;
    }

    void run() throws Exception {
        try (HikariDataSource pool = target.pool("tables", 2);
                Distances distances = new Distances(options.delays(), target);
                Turns turns = new Turns(distances, options, meter(pool))) {
            Tables tables = new Tables(pool);
            tables.dropAll();
            tables.create();
            Server server = Server.of(pool);
            String redis = options.approaches().contains(Approach.REDISSON)
                    ? RedisServer.describe(Objects.requireNonNull(options.redis()))
                    : null;
            List<String> introduction = introduction(server, redis, turns.start(), distances.check());
            print(introduction);
            List<Result> results = measure(turns);
            turns.close();
            Report report = new Report(introduction, results, measureWaiting(pool));
            tables.dropAll();
            report.write(options.output());
            print(List.of(""));
            print(report.markdown());
            print(List.of("", "Files: " + options.output().toAbsolutePath()));
            Path svg = options.svg();
            if (svg != null) {
                draw(svg, Figures.of(Condition.of(options, server, redis), results));
            }
        }
    }

    /** Draws the picture from the file that the repository keeps, so that both agree. */
    private void draw(Path svg, Figures figures) throws IOException {
        Path file = Picture.figuresOf(svg);
        figures.write(file);
        Picture.draw(svg);
        print(List.of("Picture: " + svg.toAbsolutePath().normalize(), ""));
        print(
                figures.missing().isEmpty()
                        ? new ReadmeFigures(Figures.read(file)).paragraphs()
                        : List.of("The picture lacks " + String.join(", ", figures.missing())));
    }

    private ServerWork.Meter meter(HikariDataSource pool) throws SQLException {
        return new ServerWork.Meter(pool, Server.of(pool).hasCounters(), options.serverPid());
    }

    private List<Result> measure(Turns turns) throws IOException {
        List<Case> warmUp = cases(Scenario.WARM_UP, options.delays().get(0));
        if (!warmUp.isEmpty()) { // none of the approaches that wait in line only
            print(List.of("warming up"));
            turns.warmUp(warmUp);
        }
        List<Result> results = new ArrayList<>();
        // Single threads last: in a short round they run too little for the JIT compiler
        List<Scenario> busyFirst = options.scenarios().stream()
                .sorted(Comparator.comparing(Scenario::threads).reversed())
                .toList();
        for (Scenario scenario : busyFirst) {
            for (Duration delay : options.delays()) {
                List<Case> cases = cases(scenario, delay);
                if (!cases.isEmpty()) {
                    print(List.of("measuring " + cases.get(0).title()));
                    results.addAll(turns.measure(cases));
                }
            }
        }
        return results;
    }

    /** Reads of a server's own counters: MySQL only. */
    private List<String> measureWaiting(HikariDataSource pool) throws Exception {
        if (!options.scenarios().contains(Scenario.WAITING_16_JVMS)
                || !Server.of(pool).hasCounters()) {
            return List.of();
        }
        print(List.of("measuring " + Scenario.WAITING_16_JVMS.id()));
        try (WaitingInstances instances =
                new WaitingInstances(16, target, pool, options.length(Scenario.WAITING_16_JVMS))) {
            return instances.measure();
        }
    }

    private List<Case> cases(Scenario scenario, Duration delay) {
        return scenario.cases(options.approaches(), !options.earlierBuild().isEmpty(), options.rowsDivisor(), delay);
    }

    private List<String> introduction(
            Server server, @Nullable String redis, List<String> libraries, List<String> delays) {
        List<String> lines = new ArrayList<>();
        lines.add("On %s, %d processors".formatted(server, Runtime.getRuntime().availableProcessors()));
        if (server.isRelaxed()) {
            lines.add("NOT FULLY DURABLE: these figures cannot be compared with those of a durable server");
        }
        lines.add("%d rounds of %s s for each case, in turn, after %s s of warm-up"
                .formatted(options.rounds(), lengths(), seconds(options.warmUp())));
        lines.addAll(delays);
        if (libraries.size() > 1) {
            lines.add("The current build is %s, the earlier one %s".formatted(libraries.get(0), libraries.get(1)));
        }
        for (Approach approach : options.approaches()) {
            lines.add("%s: %s".formatted(approach.label(), approach.description()));
        }
        if (redis != null) {
            lines.add("Redisson is on " + redis);
        } else if (options.redis() == null) {
            lines.add("Left out: Redisson, since there is no --redis=");
        }
        if (server.deniesCounters()) {
            lines.add("Left out: grants per commit, and %s, since the user may not read performance_schema"
                    .formatted(Scenario.WAITING_16_JVMS.id()));
        }
        return lines;
    }

    /** Those of the chosen scenarios. */
    private String lengths() {
        return options.scenarios().stream()
                .map(options::length)
                .distinct()
                .map(length -> String.valueOf(seconds(length)))
                .collect(Collectors.joining(" or "));
    }

    private static double seconds(Duration duration) {
        return duration.toMillis() / 1000.0;
    }

    private void print(List<String> lines) {
        lines.forEach(out::println);
        out.flush();
    }
}
