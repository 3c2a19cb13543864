package io.dbsemaphore.samples.backup.demo;

import io.dbsemaphore.samples.backup.Job;
import io.dbsemaphore.samples.backup.JobState;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * What is known of a run at one moment.
 *
 * @param now that moment, by the database's clock
 * @param goneAfter after how long without a sign of life an instance has died
 * @param participants the instances, in the order in which they came
 * @param jobs their jobs, in the order in which they were asked for
 */
record Run(LocalDateTime now, Duration goneAfter, List<Participant> participants, List<Job> jobs) {

    /** What an instance wrote this long ago has been committed, and is in the jobs. */
    private static final Duration COMMITTED_AFTER = Duration.ofMillis(300);

    /** Whether an instance was killed with jobs that had not ended. */
    boolean isGone(Participant participant) {
        return participant.finishedAt() == null
                && participant.seenAt().plus(goneAfter).isBefore(now);
    }

    /** Whether nothing will happen any more. */
    boolean isOver() {
        return participants.stream().allMatch(participant -> participant.finishedAt() != null || isGone(participant));
    }

    /** Up to when the jobs are known, for all instances that live: one that is silent may have started some since. */
    LocalDateTime knownUntil() {
        return participants.stream()
                .filter(participant -> participant.finishedAt() == null && !isGone(participant))
                .map(Participant::seenAt)
                .min(Comparator.naturalOrder())
                .orElse(now)
                .minus(COMMITTED_AFTER);
    }

    /** Where the instance of this job died: its last sign of life. */
    Optional<LocalDateTime> lostAt(Job job) {
        return participants.stream()
                .filter(participant -> participant.id().equals(job.instance()) && isGone(participant))
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
}
