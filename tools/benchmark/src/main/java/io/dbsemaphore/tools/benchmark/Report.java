package io.dbsemaphore.tools.benchmark;

import io.dbsemaphore.tools.benchmark.approach.Approach;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** The results as a Markdown table, with one line per case, and as CSV, with one line per round. */
final class Report {

    /** A space at the beginning aligns the column right. */
    private static final String TABLE_HEADINGS =
            "scenario,approach, pairs/s, x bare UPDATE, x textbook, x earlier build, x plain statements,"
                    + " acquire p50 ms, p99 ms, connections, grants per commit, client CPU µs, server CPU µs, trips a pair";

    private static final String CSV_HEADING = "scenario,rows,jvms,threads,approach,build,round,pairs_per_second,"
            + "acquire_p50_ms,acquire_p99_ms,connections,failures,grants_per_commit,client_cpu_us,server_cpu_us,delay_us,trips_per_pair";

    private final List<String> introduction;
    private final List<Result> results;
    private final List<String> appendix;

    /**
     * A report of these results.
     *
     * @param introduction what was measured, and how
     * @param appendix the lines of a further table; may be empty
     */
    Report(List<String> introduction, List<Result> results, List<String> appendix) {
        this.introduction = introduction;
        this.appendix = appendix;
        this.results = results.stream()
                .sorted(Comparator.comparing(result -> result.measured().scenario()))
                .toList();
    }

    /** Writes {@code results.md} and {@code results.csv}. */
    void write(Path directory) throws IOException {
        Files.createDirectories(directory);
        List<String> page = new ArrayList<>();
        introduction.forEach(line -> page.addAll(List.of(line, "")));
        page.addAll(markdown());
        Files.write(directory.resolve("results.md"), page);
        Files.write(directory.resolve("results.csv"), csv());
    }

    /** The table, and what failed. */
    List<String> markdown() {
        MarkdownTable table = new MarkdownTable(TABLE_HEADINGS.split(","));
        results.forEach(result -> add(table, result));
        List<String> lines = new ArrayList<>(table.lines());
        results.forEach(result -> addFailure(lines, result));
        if (!appendix.isEmpty()) {
            lines.add("");
            lines.addAll(appendix);
        }
        return lines;
    }

    /** All rounds as comma-separated values. */
    List<String> csv() {
        List<String> lines = new ArrayList<>(List.of(CSV_HEADING));
        for (Result result : results) {
            for (int round = 0; round < result.rounds().size(); round++) {
                lines.add(csv(result.measured(), round + 1, result.rounds().get(round)));
            }
        }
        return lines;
    }

    private void add(MarkdownTable table, Result result) {
        Case measured = result.measured();
        table.add(
                measured.title(),
                measured.label(),
                format("%,.0f", result.pairsPerSecond()),
                ratio(result, measured.with(Approach.BARE_UPDATE, false)),
                ratio(result, measured.with(Approach.TEXTBOOK, false)),
                ratio(result, measured.with(measured.approach(), true)),
                ratio(result, measured.with(Approach.PLAIN_STATEMENTS, false)),
                millis(result.acquireMillis(50)),
                millis(result.acquireMillis(99)),
                measured.approach() == Approach.REDISSON ? "" : Integer.toString(result.connections()),
                known("%,.1f", result.median(Measurement::grantsPerCommit)),
                known("%,.0f", result.median(Measurement::clientCpuMicros)),
                known("%,.0f", result.median(Measurement::serverCpuMicros)),
                known("%,.2f", result.median(Measurement::tripsPerPair)));
    }

    /** How many times the pairs per second of the other case: the median of the rounds, the lowest and the highest. */
    private String ratio(Result result, Case other) {
        return results.stream()
                .filter(candidate -> candidate != result && candidate.measured().equals(other))
                .findFirst()
                .map(result::ratioTo)
                .map(ratio -> format("%.2f (%.2f-%.2f)", ratio.median(), ratio.lowest(), ratio.highest()))
                .orElse("");
    }

    private static void addFailure(List<String> lines, Result result) {
        Measurement all = Measurement.sum(result.rounds());
        if (all.failure() != null) {
            String subject =
                    result.measured().title() + ", " + result.measured().label();
            lines.addAll(List.of("", subject + ": " + all.failures() + " failures, the first: " + all.failure()));
        }
    }

    private static String csv(Case measured, int number, Measurement round) {
        return format(
                "%s,%d,%d,%d,%s,%s,%d,%.1f,%.4f,%.4f,%d,%d,%s,%s,%s,%d,%s",
                measured.scenario().id(),
                measured.rows(),
                measured.scenario().jvms(),
                measured.scenario().threads(),
                measured.approach().id(),
                measured.earlierBuild() ? "earlier" : "current",
                number,
                round.pairsPerSecond(),
                round.acquireMillis(50),
                round.acquireMillis(99),
                round.connections(),
                round.failures(),
                known("%.2f", round.grantsPerCommit()),
                known("%.1f", round.clientCpuMicros()),
                known("%.1f", round.serverCpuMicros()),
                TimeUnit.NANOSECONDS.toMicros(measured.delay().toNanos()),
                known("%.3f", round.tripsPerPair()));
    }

    private static String known(String format, double value) {
        return Double.isNaN(value) ? "" : format(format, value);
    }

    private static String millis(double value) {
        return format(value < 10 ? "%.2f" : "%.0f", value);
    }

    private static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
