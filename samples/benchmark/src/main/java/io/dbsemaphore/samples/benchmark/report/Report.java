package io.dbsemaphore.samples.benchmark.report;

import io.dbsemaphore.samples.benchmark.contestant.Approach;
import io.dbsemaphore.samples.benchmark.cost.Cost;
import io.dbsemaphore.samples.benchmark.cost.CostResult;
import io.dbsemaphore.samples.benchmark.cost.Scale;
import io.dbsemaphore.samples.benchmark.throughput.Percentiles;
import io.dbsemaphore.samples.benchmark.throughput.Result;
import io.dbsemaphore.samples.benchmark.throughput.Workload;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The findings in lines of text. */
public final class Report {

    private final Findings findings;
    private final List<Bar> bars;

    /** @param scale how full the tables were */
    public Report(Findings findings, Scale scale) {
        this.findings = findings;
        this.bars = new Bars(findings, scale).all();
    }

    /** Pairs per second and percentiles, workload by workload. */
    public List<String> throughput() {
        TextTable table = new TextTable(
                "workload",
                "contestant",
                " pairs/s",
                " x bare UPDATE",
                " x textbook",
                " acquire p50 ms",
                " p99 ms",
                " connections",
                " failures");
        for (Workload workload : Workload.measured()) {
            List<Result> results = findings.results().stream()
                    .filter(result -> result.workload() == workload)
                    .toList();
            results.forEach(result -> add(table, result));
            if (!results.isEmpty()) {
                table.gap();
            }
        }
        return table.lines();
    }

    /** What acquires and releases threw, one line each. */
    public List<String> failures() {
        return findings.results().stream()
                .filter(result -> result.failures() > 0)
                .map(result -> "%s, %s: %d failures, the first: %s"
                        .formatted(
                                result.workload().title(),
                                result.approach().label(),
                                result.failures(),
                                result.failure().orElse("?")))
                .toList();
    }

    /** What a lone acquire of the library costs. */
    public List<String> costs() {
        TextTable table =
                new TextTable("a lone acquire, by", "", " p50 ms", " x first", " p99 ms over all", " samples");
        for (Cost.Kind kind : Cost.Kind.values()) {
            List<CostResult> costs = findings.costs(kind);
            for (CostResult cost : costs) {
                table.add(
                        kind.title(),
                        cost.variant(),
                        millis(cost.p50()),
                        number("%.2f", cost.p50() / costs.get(0).p50()),
                        millis(cost.acquire().p99()),
                        Integer.toString(cost.acquire().count()));
            }
        }
        return table.lines();
    }

    /** The bars, and whether they are reached. */
    public List<String> bars() {
        TextTable table = new TextTable("workload", "against", "bar", " figure", "reached");
        bars.forEach(bar -> table.add(bar.workload(), bar.against(), bar.demand(), bar.reading(), verdict(bar)));
        return table.lines();
    }

    /** How many of those that were measured are reached. */
    public String summary() {
        List<Boolean> measured =
                bars.stream().map(Bar::reached).flatMap(Optional::stream).toList();
        long reached = measured.stream().filter(bar -> bar).count();
        return "%d of %d bars reached, %d not measured"
                .formatted(reached, measured.size(), bars.size() - measured.size());
    }

    /** The throughput as comma-separated values. */
    public List<String> resultsCsv() {
        List<String> lines = new ArrayList<>(
                List.of("workload,jvms,threads,contestant,pairs_per_second,x_bare_update,x_textbook,acquire_p50_ms,"
                        + "acquire_p99_ms,connections,failures,pairs_per_second_by_round"));
        for (Result result : byWorkload()) {
            Percentiles acquire = result.acquire();
            lines.add(String.join(
                    ",",
                    result.workload().id(),
                    Integer.toString(result.workload().jvms()),
                    Integer.toString(result.workload().threads()),
                    result.approach().label(),
                    number("%.1f", result.pairsPerSecond()),
                    ratio(result, Approach.BARE_UPDATE, "%.3f"),
                    ratio(result, Approach.TEXTBOOK, "%.3f"),
                    number("%.4f", acquire.p50()),
                    number("%.4f", acquire.p99()),
                    Integer.toString(result.connections()),
                    Long.toString(result.failures()),
                    String.join(
                            " ",
                            result.rounds().stream()
                                    .map(round -> number("%.1f", round.pairsPerSecond()))
                                    .toList())));
        }
        return lines;
    }

    /** The costs as comma-separated values. */
    public List<String> costsCsv() {
        List<String> lines = new ArrayList<>(List.of("cost,size,acquire_p50_ms,acquire_p99_ms,samples"));
        findings.costs()
                .forEach(cost -> lines.add("%s,%d,%s,%s,%d"
                        .formatted(
                                cost.kind().id(),
                                cost.size(),
                                number("%.4f", cost.p50()),
                                number("%.4f", cost.acquire().p99()),
                                cost.acquire().count())));
        return lines;
    }

    /** The bars as comma-separated values. */
    public List<String> barsCsv() {
        List<String> lines = new ArrayList<>(List.of("workload,against,bar,figure,reached"));
        bars.forEach(bar -> lines.add("\"%s\",\"%s\",%s,%s,%s"
                .formatted(bar.workload(), bar.against(), bar.demand(), bar.reading(), verdict(bar))));
        return lines;
    }

    private List<Result> byWorkload() {
        return findings.results().stream()
                .sorted(Comparator.comparing(Result::workload))
                .toList();
    }

    private void add(TextTable table, Result result) {
        Percentiles acquire = result.acquire();
        table.add(
                result.workload().title(),
                result.approach().label(),
                number("%,.0f", result.pairsPerSecond()),
                ratio(result, Approach.BARE_UPDATE, "%.2f"),
                ratio(result, Approach.TEXTBOOK, "%.2f"),
                millis(acquire.p50()),
                millis(acquire.p99()),
                result.approach() == Approach.REDISSON ? "" : Integer.toString(result.connections()),
                result.failures() == 0 ? "" : Long.toString(result.failures()));
    }

    private String ratio(Result result, Approach other, String format) {
        return findings.ratio(result.workload(), result.approach(), other)
                .map(ratio -> number(format, ratio))
                .orElse("");
    }

    private static String verdict(Bar bar) {
        return bar.reached().map(reached -> reached ? "yes" : "NO").orElse("");
    }

    private static String millis(double value) {
        return number(value < 10 ? "%.2f" : "%.0f", value);
    }

    private static String number(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }
}
