package io.dbsemaphore.samples.backup.demo;

import io.dbsemaphore.samples.backup.Job;
import io.dbsemaphore.samples.backup.JobState;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a run of the demo at one moment.
 *
 * @param now that moment, by the database's clock
 * @param instanceTimeout after how long without a heartbeat an instance counts as dead
 * @param participants the instances, in the order in which they joined
 * @param jobs their jobs, in the order in which they were requested
 */
record Run(LocalDateTime now, Duration instanceTimeout, List<Participant> participants, List<Job> jobs) {

    /** What an instance wrote this long ago has been committed. */
    private static final Duration COMMITTED_AFTER = Duration.ofMillis(300);

    /** Whether an instance was killed with jobs that had not ended. */
    boolean isDead(Participant participant) {
        return participant.finishedAt() == null
                && participant.seenAt().plus(instanceTimeout).isBefore(now);
    }

    /** Whether all instances have finished or are dead. */
    boolean isOver() {
        return participants.stream().allMatch(participant -> participant.finishedAt() != null || isDead(participant));
    }

    /** Up to when all jobs are known: the earliest heartbeat of the live instances, which may have started jobs since. */
    LocalDateTime knownUntil() {
        return participants.stream()
                .filter(participant -> participant.finishedAt() == null && !isDead(participant))
                .map(Participant::seenAt)
                .min(Comparator.naturalOrder())
                .orElse(now)
                .minus(COMMITTED_AFTER);
    }

    /** When the instance of this job sent its last heartbeat, if it is dead and the job had not ended. */
    Optional<LocalDateTime> lostAt(Job job) {
        return participants.stream()
                .filter(participant -> participant.id().equals(job.instance()) && isDead(participant))
                .map(Participant::seenAt)
                .filter(seenAt -> !job.state().isFinal())
                .findFirst();
    }

    List<Job> jobsOf(String instance) {
        return jobs.stream().filter(job -> job.instance().equals(instance)).toList();
    }

    long count(JobState state) {
        return jobs.stream()
                .filter(job -> job.state() == state && lostAt(job).isEmpty())
                .count();
    }

    long lost() {
        return jobs.stream().filter(job -> lostAt(job).isPresent()).count();
    }

    /**
     * An instance that takes part in the run.
     *
     * @param seenAt its last heartbeat
     * @param finishedAt when its own jobs had ended
     */
    record Participant(
            String id,
            LocalDateTime joinedAt,
            LocalDateTime seenAt,
            @Nullable LocalDateTime finishedAt) {}
}
