package io.dbsemaphore.samples.benchmark.report;

import io.dbsemaphore.samples.benchmark.contestant.Approach;
import io.dbsemaphore.samples.benchmark.cost.Cost;
import io.dbsemaphore.samples.benchmark.throughput.Result;
import io.dbsemaphore.samples.benchmark.throughput.Workload;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Which pictures there are. */
final class Charts {

    private final Findings findings;

    Charts(Findings findings) {
        this.findings = findings;
    }

    String pairsPerSecond() {
        return byWorkload("Acquire and release", "pairs per second", Result::pairsPerSecond);
    }

    String acquireP99() {
        return byWorkload(
                "99th percentile of acquire",
                "milliseconds",
                result -> result.acquire().p99());
    }

    String costs() {
        List<Chart.Group> groups = Arrays.stream(Cost.Kind.values())
                .flatMap(kind -> findings.costs(kind).stream())
                .map(cost -> new Chart.Group(
                        cost.variant().replaceFirst(" ", ", ") + " ("
                                + cost.kind().id() + ")",
                        List.of(new Chart.Column(Approach.LIBRARY.label(), cost.p50()))))
                .toList();
        return new Chart("Median of a lone acquire", "milliseconds", List.of(Approach.LIBRARY.label()), groups).svg();
    }

    private String byWorkload(String title, String unit, ToDoubleFunction<Result> figure) {
        List<Chart.Group> groups = Workload.measured().stream()
                .map(workload -> new Chart.Group(workload.title(), columns(workload, figure)))
                .filter(group -> !group.columns().isEmpty())
                .toList();
        List<String> series = Arrays.stream(Approach.values())
                .filter(approach -> findings.results().stream().anyMatch(result -> result.approach() == approach))
                .map(Approach::label)
                .toList();
        return new Chart(title, unit, series, groups).svg();
    }

    private List<Chart.Column> columns(Workload workload, ToDoubleFunction<Result> figure) {
        return findings.results().stream()
                .filter(result -> result.workload() == workload)
                .map(result -> new Chart.Column(result.approach().label(), figure.applyAsDouble(result)))
                .toList();
    }
}
