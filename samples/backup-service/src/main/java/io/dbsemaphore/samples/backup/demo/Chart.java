package io.dbsemaphore.samples.backup.demo;

import io.dbsemaphore.samples.backup.Job;
import io.dbsemaphore.samples.backup.JobKind;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The run as a picture: a line for each job, a column for each instant. */
final class Chart {

    private static final int COLUMNS = 72;
    private static final String ROW = "%-8s  %-14s  |%s|";

    private final Run run;
    private final LocalDateTime start;
    private final Duration step;

    Chart(Run run) {
        this.run = run;
        this.start = run.jobs().isEmpty() ? run.now() : run.jobs().get(0).requestedAt();
        this.step = Duration.between(start, run.now()).dividedBy(COLUMNS).plusMillis(1);
    }

    List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add("One line per job: . waits, # backs up, = replicates. One column per " + step.toMillis() + " ms.");
        run.jobs().stream()
                .sorted(Comparator.comparing(this::begin))
                .forEach(job -> lines.add(ROW.formatted(DemoPrinter.process(job), job.snapshot(), row(job))));
        lines.add(ROW.formatted("", "backups", counts(job -> job.kind() == JobKind.BACKUP)));
        lines.add(ROW.formatted("", "transfers", counts(job -> true)));
        return lines;
    }

    private String row(Job job) {
        return columns(instant -> cell(job, instant));
    }

    private String counts(Predicate<Job> which) {
        return columns(instant -> count(which, instant));
    }

    private String columns(Function<LocalDateTime, String> column) {
        return IntStream.range(0, COLUMNS)
                .mapToObj(number -> column.apply(start.plus(step.multipliedBy(number))))
                .collect(Collectors.joining());
    }

    private String count(Predicate<Job> which, LocalDateTime instant) {
        long running = run.jobs().stream()
                .filter(which.and(job -> isRunning(job, instant)))
                .count();
        return running < 10 ? Long.toString(running) : "+";
    }

    private String cell(Job job, LocalDateTime instant) {
        if (isRunning(job, instant)) {
            return job.kind() == JobKind.BACKUP ? "#" : "=";
        }
        return isWaiting(job, instant) ? "." : " ";
    }

    private boolean isWaiting(Job job, LocalDateTime instant) {
        return !job.requestedAt().isAfter(instant) && begin(job).isAfter(instant);
    }

    private boolean isRunning(Job job, LocalDateTime instant) {
        LocalDateTime startedAt = job.startedAt();
        return startedAt != null && !startedAt.isAfter(instant) && end(job).isAfter(instant);
    }

    private LocalDateTime begin(Job job) {
        LocalDateTime startedAt = job.startedAt();
        return startedAt != null ? startedAt : end(job);
    }

    private LocalDateTime end(Job job) {
        LocalDateTime endedAt = job.endedAt();
        return endedAt != null ? endedAt : run.lostAt(job).orElse(run.now());
    }
}
