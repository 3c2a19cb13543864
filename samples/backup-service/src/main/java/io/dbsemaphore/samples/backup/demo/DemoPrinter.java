package io.dbsemaphore.samples.backup.demo;

import io.dbsemaphore.samples.backup.Job;
import io.dbsemaphore.samples.backup.JobState;
import io.dbsemaphore.samples.backup.demo.Timeline.Moment;
import io.dbsemaphore.samples.backup.demo.Verdict.Limits;
import java.io.PrintStream;
import java.time.format.DateTimeFormatter;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;

/** Prints each moment once, as soon as everything up to it is known, in ASCII. */
final class DemoPrinter {

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss.SSS", Locale.ROOT);
    private static final String ROW = "%-12s  %-7s  %-14s  %-7s  %-14s  %-16s  %s";

    private final PrintStream out;
    private final Limits limits;
    private final Set<String> printed = new HashSet<>();
    private boolean unreachable;

    DemoPrinter(PrintStream out, Limits limits) {
        this.out = out;
        this.limits = limits;
    }

    void introduction(DemoProperties properties) {
        line("This is process %d. All instances together may run %d backups at once, and %d transfers of any kind."
                .formatted(ProcessHandle.current().pid(), limits.backups(), limits.transfers()));
        line("It has %d backups and %d replications waiting or running at once, for %d seconds%s."
                .formatted(
                        properties.backups(),
                        properties.replications(),
                        properties.duration().toSeconds(),
                        properties.instances() > 1
                                ? ", from when " + properties.instances() + " instances are there"
                                : ""));
    }

    void heading() {
        line("");
        line(ROW.formatted("", "", "", "", "backups on", "transfers on", "jobs of"));
        line(ROW.formatted("time", "process", "job", "", "all instances", "all instances", "this process"));
    }

    /** Prints what is new, up to the moment until which all jobs are known. */
    void printNew(Run run) {
        unreachable = false;
        new Timeline(run)
                .moments().stream()
                        .filter(moment -> !moment.at().isAfter(run.knownUntil()))
                        .forEach(this::printOnce);
    }

    void databaseUnreachable() {
        if (!unreachable) {
            line("The database does not answer; waiting for it");
        }
        unreachable = true;
    }

    void summary(Run run) {
        Timeline timeline = new Timeline(run);
        timeline.moments().forEach(this::printOnce);
        line("");
        line("Jobs     %d of %d instance(s): %d done, %d refused, %d failed, %d lost with their process, %d not ended"
                .formatted(
                        run.jobs().size(),
                        run.participants().size(),
                        run.count(JobState.DONE),
                        run.count(JobState.REFUSED),
                        run.count(JobState.FAILED),
                        run.lost(),
                        run.count(JobState.WAITING) + run.count(JobState.RUNNING)));
        line("Peak     %d of %d backups, %d of %d transfers at the same time"
                .formatted(timeline.peakOfBackups(), limits.backups(), timeline.peakOfTransfers(), limits.transfers()));
    }

    void verdict(Verdict verdict) {
        line("Verdict  " + verdict.text());
        line("");
        line("Next     the same in a browser: add -Dspring-boot.run.profiles=live to the command, and open");
        line("         http://localhost:8080/actuator/semaphores");
    }

    /** The process id, with which the id of an instance begins. */
    private static String process(Job job) {
        return job.instance().split("-", 2)[0];
    }

    private void printOnce(Moment moment) {
        Job job = moment.job();
        if (printed.add(job.id() + moment.change())) {
            line(ROW.formatted(
                    TIME.format(moment.at()),
                    process(job),
                    job.snapshot(),
                    moment.change().name().toLowerCase(Locale.ROOT),
                    bar(moment.backups(), limits.backups()),
                    bar(moment.transfers(), limits.transfers()),
                    "#".repeat(moment.sameInstance())));
        }
    }

    private static String bar(int running, int limit) {
        String free = ".".repeat(Math.max(0, limit - running));
        return "[%s%s] %d of %d%s".formatted("#".repeat(running), free, running, limit, running > limit ? " !" : "");
    }

    private void line(String line) {
        out.println(line);
        out.flush();
    }
}
