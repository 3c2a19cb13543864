package io.dbsemaphore.tools.benchmark;

import io.dbsemaphore.tools.benchmark.approach.Approach;
import java.util.List;

/** What README.md says of {@link Figures}, in Markdown: the sentences above the {@link Picture}, and the footnote below it. */
final class ReadmeFigures {

    private final Figures figures;

    ReadmeFigures(Figures figures) {
        this.figures = figures;
    }

    /** The paragraphs, each as one line. */
    List<String> paragraphs() {
        return List.of(sentences(), footnote());
    }

    private String sentences() {
        return """
                **How fast.** A lone acquire takes %s (median); a bare `UPDATE` with its commit takes %s, Redisson %s. \
                32 threads acquire and release one semaphore %s times a second (bare `UPDATE`: %s, Redisson: %s), \
                because one transaction serves many callers. With [reuse](docs/reference.md#reuse), a caller hands its permit \
                in memory to the JVM's next caller: %s times a second.""".formatted(
                        acquire(Approach.DB_SEMAPHORE),
                        acquire(Approach.BARE_UPDATE),
                        acquire(Approach.REDISSON),
                        rate(Scenario.THREADS_32, Approach.DB_SEMAPHORE),
                        rate(Scenario.THREADS_32, Approach.BARE_UPDATE),
                        rate(Scenario.THREADS_32, Approach.REDISSON),
                        rate(Scenario.REUSE_32, Approach.DB_SEMAPHORE));
    }

    private String footnote() {
        return """
                <sub>Measured on %s: %s, %s (%s), %s, %s, %s; %s. The authors of this library wrote the benchmark. \
                [All figures](docs/images/benchmark.csv), [what is measured](tools/benchmark/README.md#what-is-measured). \
                To repeat it: `%s`</sub>""".formatted(
                        Picture.date(figures),
                        figures.condition(Condition.MACHINE),
                        figures.condition(Condition.DATABASE),
                        figures.condition(Condition.DURABILITY),
                        figures.condition(Condition.REDIS),
                        figures.condition(Condition.JAVA),
                        figures.condition(Condition.LIBRARIES),
                        figures.condition(Condition.ROUNDS),
                        figures.condition(Condition.COMMAND));
    }

    private String acquire(Approach approach) {
        return Picture.millis(figures.get(Scenario.ONE_THREAD, approach).acquireMillis());
    }

    private String rate(Scenario scenario, Approach approach) {
        return Picture.rate(figures.get(scenario, approach).pairsPerSecond());
    }
}
