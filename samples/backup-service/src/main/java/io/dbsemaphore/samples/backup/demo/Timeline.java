package io.dbsemaphore.samples.backup.demo;

import io.dbsemaphore.samples.backup.Job;
import io.dbsemaphore.samples.backup.JobKind;
import io.dbsemaphore.samples.backup.JobState;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.ToIntFunction;

/** How many jobs ran at the same time, computed from when each began and ended, and from nothing else. */
final class Timeline {

    private final List<Moment> moments = new ArrayList<>();

    Timeline(Run run) {
        List<Event> events = new ArrayList<>();
        run.jobs().forEach(job -> addEvents(job, run, events));
        events.sort(Comparator.comparing(Event::at).thenComparing(Event::change));
        Set<Job> running = new LinkedHashSet<>();
        for (Event event : events) {
            if (event.change() == Change.STARTED) {
                running.add(event.job());
            } else {
                running.remove(event.job());
            }
            moments.add(moment(event, running));
        }
    }

    List<Moment> moments() {
        return moments;
    }

    int peakOfBackups() {
        return peak(Moment::backups);
    }

    int peakOfTransfers() {
        return peak(Moment::transfers);
    }

    private int peak(ToIntFunction<Moment> count) {
        return moments.stream().mapToInt(count).max().orElse(0);
    }

    private static void addEvents(Job job, Run run, List<Event> events) {
        LocalDateTime startedAt = job.startedAt();
        LocalDateTime endedAt = job.endedAt();
        if (startedAt != null) {
            events.add(new Event(startedAt, job, Change.STARTED));
            run.lostAt(job).ifPresent(lostAt -> events.add(new Event(later(startedAt, lostAt), job, Change.LOST)));
        }
        if (endedAt != null) {
            events.add(new Event(endedAt, job, changeTo(job.state())));
        }
    }

    /** The instance may have started the job after its last heartbeat. */
    private static LocalDateTime later(LocalDateTime startedAt, LocalDateTime lostAt) {
        return startedAt.isAfter(lostAt) ? startedAt : lostAt;
    }

    private static Change changeTo(JobState state) {
        return switch (state) {
            case DONE -> Change.DONE;
            case REFUSED -> Change.REFUSED;
            default -> Change.FAILED;
        };
    }

    private static Moment moment(Event event, Set<Job> running) {
        return new Moment(
                event.at(),
                event.job(),
                event.change(),
                (int) running.stream()
                        .filter(job -> job.kind() == JobKind.BACKUP)
                        .count(),
                running.size(),
                (int) running.stream()
                        .filter(job -> job.instance().equals(event.job().instance()))
                        .count());
    }

    private record Event(LocalDateTime at, Job job, Change change) {}

    /**
     * A moment at which something changed, and what ran from then on.
     *
     * @param at when, by the database's clock
     * @param backups how many backups ran, on all instances
     * @param transfers how many jobs of all kinds ran, on all instances: each uses the network
     * @param sameInstance how many jobs ran on the instance of this job
     */
    record Moment(LocalDateTime at, Job job, Change change, int backups, int transfers, int sameInstance) {}

    /**
     * What happened to a job, in the order that counts at the same instant: a permit is free for the next job as soon as
     * the last one has ended, but a job is lost no sooner than it has started.
     */
    enum Change {
        DONE,
        FAILED,
        REFUSED,
        STARTED,
        LOST
    }
}
