package io.dbsemaphore.samples.benchmark.report;

import io.dbsemaphore.samples.benchmark.contestant.Approach;
import io.dbsemaphore.samples.benchmark.cost.Cost;
import io.dbsemaphore.samples.benchmark.cost.CostResult;
import io.dbsemaphore.samples.benchmark.throughput.Result;
import io.dbsemaphore.samples.benchmark.throughput.Workload;
import java.util.List;
import java.util.Optional;

/** All that was measured. */
public record Findings(List<Result> results, List<CostResult> costs) {

    /** One contestant on one workload, if that was measured. */
    Optional<Result> result(Workload workload, Approach approach) {
        return results.stream()
                .filter(result -> result.workload() == workload && result.approach() == approach)
                .findFirst();
    }

    /** How many times the pairs per second of another approach on the same workload. */
    Optional<Double> ratio(Workload workload, Approach approach, Approach other) {
        return result(workload, approach)
                .flatMap(one -> result(workload, other).map(two -> one.pairsPerSecond() / two.pairsPerSecond()));
    }

    /** What was measured of this kind, by size. */
    List<CostResult> costs(Cost.Kind kind) {
        return costs.stream().filter(cost -> cost.kind() == kind).toList();
    }

    /** One cost, if that was measured. */
    Optional<CostResult> cost(Cost.Kind kind, long size) {
        return costs(kind).stream().filter(cost -> cost.size() == size).findFirst();
    }
}
