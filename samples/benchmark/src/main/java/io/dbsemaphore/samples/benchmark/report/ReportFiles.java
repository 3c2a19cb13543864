package io.dbsemaphore.samples.benchmark.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The findings as files: comma-separated values and pictures. */
public final class ReportFiles {

    private final Findings findings;
    private final Report report;

    /** Of the same findings. */
    public ReportFiles(Findings findings, Report report) {
        this.findings = findings;
        this.report = report;
    }

    /** Writes them. */
    public void write(Path directory) throws IOException {
        Files.createDirectories(directory);
        Files.write(directory.resolve("results.csv"), report.resultsCsv());
        Files.write(directory.resolve("costs.csv"), report.costsCsv());
        Files.write(directory.resolve("bars.csv"), report.barsCsv());
        Charts charts = new Charts(findings);
        if (!findings.results().isEmpty()) {
            Files.writeString(directory.resolve("pairs-per-second.svg"), charts.pairsPerSecond());
            Files.writeString(directory.resolve("acquire-p99.svg"), charts.acquireP99());
        }
        if (!findings.costs().isEmpty()) {
            Files.writeString(directory.resolve("acquire-cost.svg"), charts.costs());
        }
    }
}
