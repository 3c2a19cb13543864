package io.dbsemaphore.samples.benchmark.report;

import static io.dbsemaphore.samples.benchmark.contestant.Approach.BARE_UPDATE;
import static io.dbsemaphore.samples.benchmark.contestant.Approach.LIBRARY;
import static io.dbsemaphore.samples.benchmark.contestant.Approach.LOCK_REGISTRY;
import static io.dbsemaphore.samples.benchmark.contestant.Approach.SHEDLOCK;
import static io.dbsemaphore.samples.benchmark.contestant.Approach.TEXTBOOK;
import static io.dbsemaphore.samples.benchmark.throughput.Workload.ONE_THREAD;
import static io.dbsemaphore.samples.benchmark.throughput.Workload.SEMAPHORES_64;
import static io.dbsemaphore.samples.benchmark.throughput.Workload.THREADS_128;
import static io.dbsemaphore.samples.benchmark.throughput.Workload.THREADS_32;
import static io.dbsemaphore.samples.benchmark.throughput.Workload.TWO_JVMS;

import io.dbsemaphore.samples.benchmark.contestant.Approach;
import io.dbsemaphore.samples.benchmark.cost.Cost;
import io.dbsemaphore.samples.benchmark.cost.CostResult;
import io.dbsemaphore.samples.benchmark.cost.Scale;
import io.dbsemaphore.samples.benchmark.report.Bar.Bound;
import io.dbsemaphore.samples.benchmark.throughput.Percentiles;
import io.dbsemaphore.samples.benchmark.throughput.Result;
import io.dbsemaphore.samples.benchmark.throughput.Workload;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/** The bars, and how far the library got. */
final class Bars {

    private static final String TIMES = " x";

    private final Findings findings;
    private final Scale scale;

    /** @param scale how full the tables were */
    Bars(Findings findings, Scale scale) {
        this.findings = findings;
        this.scale = scale;
    }

    List<Bar> all() {
        return List.of(
                pairs(ONE_THREAD, TEXTBOOK, 1.2),
                acquire(ONE_THREAD, "p50 of acquire", Bound.AT_MOST, 2.5, Percentiles::p50),
                pairs(THREADS_32, BARE_UPDATE, 4),
                pairs(THREADS_32, TEXTBOOK, 8),
                pairs(THREADS_32, LOCK_REGISTRY, 6),
                pairs(THREADS_32, SHEDLOCK, 20),
                pairs(THREADS_128, BARE_UPDATE, 8),
                acquire(THREADS_128, "p99 of acquire", Bound.BELOW, 1 / 20.0, Percentiles::p99),
                pairs(SEMAPHORES_64, BARE_UPDATE, 1.3),
                pairs(TWO_JVMS, BARE_UPDATE, 2),
                connections(),
                cost(Cost.Kind.HISTORY, scale.released().get(0), last(scale.released()), 1.2),
                cost(Cost.Kind.HELD, scale.held().get(0), scale.held().get(1), 2),
                cost(Cost.Kind.SNAPSHOT, 0, scale.releasedUnderSnapshot(), 2));
    }

    private Bar pairs(Workload workload, Approach other, double limit) {
        return new Bar(
                workload.title() + ", pairs/s",
                other.label(),
                Bound.AT_LEAST,
                limit,
                TIMES,
                findings.ratio(workload, Approach.LIBRARY, other));
    }

    private Bar acquire(
            Workload workload, String what, Bound bound, double limit, ToDoubleFunction<Percentiles> percentile) {
        Optional<Double> ratio = findings.result(workload, LIBRARY)
                .flatMap(library -> findings.result(workload, BARE_UPDATE)
                        .map(bare -> percentile.applyAsDouble(library.acquire())
                                / percentile.applyAsDouble(bare.acquire())));
        return new Bar(workload.title() + ", " + what, BARE_UPDATE.label(), bound, limit, TIMES, ratio);
    }

    private Bar connections() {
        return new Bar(
                THREADS_128.title() + ", connections in use",
                "",
                Bound.AT_MOST,
                4,
                "",
                findings.result(THREADS_128, LIBRARY).map(Result::connections).map(Integer::doubleValue));
    }

    private Bar cost(Cost.Kind kind, long few, long many, double limit) {
        Optional<Double> ratio = findings.cost(kind, many)
                .map(CostResult::p50)
                .flatMap(dear -> findings.cost(kind, few).map(CostResult::p50).map(cheap -> dear / cheap));
        return new Bar(
                "p50 of a lone acquire, %,d %s".formatted(many, kind.title()),
                "%,d".formatted(few),
                Bound.AT_MOST,
                limit,
                TIMES,
                ratio);
    }

    private static <T> T last(List<T> list) {
        return list.get(list.size() - 1);
    }
}
