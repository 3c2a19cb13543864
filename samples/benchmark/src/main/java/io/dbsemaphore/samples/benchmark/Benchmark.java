package io.dbsemaphore.samples.benchmark;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.samples.benchmark.contestant.Surroundings;
import io.dbsemaphore.samples.benchmark.cost.Cost;
import io.dbsemaphore.samples.benchmark.cost.CostResult;
import io.dbsemaphore.samples.benchmark.cost.HeldCost;
import io.dbsemaphore.samples.benchmark.cost.HistoryCost;
import io.dbsemaphore.samples.benchmark.cost.Probe;
import io.dbsemaphore.samples.benchmark.cost.SnapshotCost;
import io.dbsemaphore.samples.benchmark.database.Durability;
import io.dbsemaphore.samples.benchmark.database.Tables;
import io.dbsemaphore.samples.benchmark.database.Target;
import io.dbsemaphore.samples.benchmark.report.Findings;
import io.dbsemaphore.samples.benchmark.report.Report;
import io.dbsemaphore.samples.benchmark.report.ReportFiles;
import io.dbsemaphore.samples.benchmark.throughput.Competition;
import io.dbsemaphore.samples.benchmark.throughput.Result;
import io.dbsemaphore.samples.benchmark.throughput.Workload;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** One pass over all that is to be measured, on tables made for it and dropped afterwards. */
final class Benchmark {

    private final Options options;
    private final Target target;
    private final Console console;

    Benchmark(Options options, Target target, Console console) {
        this.options = options;
        this.target = target;
        this.console = console;
    }

    void run() throws Exception {
        Surroundings surroundings = new Surroundings(target, options.redis());
        Findings findings;
        try (HikariDataSource pool = target.pool("tables", 2)) {
            console.introduction(options, surroundings, Durability.of(pool));
            Tables tables = new Tables(pool);
            tables.drop(Tables.PREFIX);
            surroundings.makeTables(tables);
            findings = new Findings(throughput(surroundings), costs(tables));
            tables.drop(Tables.PREFIX);
        }
        Report report = new Report(findings, options.scale());
        new ReportFiles(findings, report).write(options.output());
        console.report(report, options.output());
    }

    private List<Result> throughput(Surroundings surroundings) throws Exception {
        Competition competition = new Competition(surroundings, options.rounds(), options.length(), options.warmUp());
        console.begin("nothing yet: warming up");
        competition.warmUp();
        List<Result> results = new ArrayList<>();
        // Lone threads last: they run too little for the JVM to compile it in a short round
        List<Workload> busyFirst = Workload.measured().stream()
                .sorted(Comparator.comparing(Workload::threads).reversed())
                .toList();
        for (Workload workload : busyFirst) {
            if (options.only().contains(workload.id())) {
                console.begin(workload.title());
                results.addAll(competition.run(workload));
            }
        }
        return results;
    }

    private List<CostResult> costs(Tables tables) throws Exception {
        List<CostResult> results = new ArrayList<>();
        for (Cost.Kind kind : Cost.Kind.values()) {
            if (options.only().contains(kind.id())) {
                console.begin("a lone acquire, by " + kind.title());
                results.addAll(cost(kind, tables).measure());
            }
        }
        return results;
    }

    private Cost cost(Cost.Kind kind, Tables tables) {
        Probe probe = new Probe(options.rounds(), options.length());
        return switch (kind) {
            case HELD -> new HeldCost(target, tables, options.scale().held(), probe);
            case HISTORY -> new HistoryCost(target, tables, options.scale().released(), probe);
            case SNAPSHOT -> new SnapshotCost(target, tables, options.scale().releasedUnderSnapshot(), probe);
        };
    }
}
