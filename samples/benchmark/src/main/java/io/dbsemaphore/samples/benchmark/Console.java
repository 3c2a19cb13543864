package io.dbsemaphore.samples.benchmark;

import io.dbsemaphore.samples.benchmark.contestant.Approach;
import io.dbsemaphore.samples.benchmark.contestant.Surroundings;
import io.dbsemaphore.samples.benchmark.database.Durability;
import io.dbsemaphore.samples.benchmark.report.Report;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;

/** All that is printed. Plain ASCII: every terminal shows it. */
final class Console {

    private final PrintStream out;

    Console(PrintStream out) {
        this.out = out;
    }

    void introduction(Options options, Surroundings surroundings, Durability durability) {
        lines(List.of(
                "On %s, %d processors"
                        .formatted(durability, Runtime.getRuntime().availableProcessors()),
                "%d rounds of %.1f s for each contestant, in turns, after %.1f s to warm up"
                        .formatted(
                                options.rounds(),
                                options.length().toMillis() / 1000.0,
                                options.warmUp().toMillis() / 1000.0)));
        if (durability.isRelaxed()) {
            lines(List.of("NOT FULLY DURABLE: these figures are not comparable"));
        }
        for (Approach approach : Approach.values()) {
            boolean possible = surroundings.approaches().contains(approach);
            lines(List.of("  %-16s  %s%s"
                    .formatted(
                            approach.label(),
                            approach.description(),
                            possible ? "" : " - LEFT OUT: no --redis= was given")));
        }
        lines(List.of(""));
    }

    void begin(String what) {
        lines(List.of("measuring " + what));
    }

    void report(Report report, Path output) {
        lines(List.of(""));
        lines(report.throughput());
        lines(report.failures());
        lines(List.of(""));
        lines(report.costs());
        lines(List.of(""));
        lines(report.bars());
        lines(List.of("", report.summary(), "Files are in " + output.toAbsolutePath()));
    }

    void misunderstood(String problem) {
        lines(List.of(problem, "", Options.USAGE));
    }

    private void lines(List<String> lines) {
        lines.forEach(out::println);
        out.flush();
    }
}
