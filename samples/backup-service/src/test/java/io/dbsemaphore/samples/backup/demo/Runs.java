package io.dbsemaphore.samples.backup.demo;

import io.dbsemaphore.samples.backup.Job;
import io.dbsemaphore.samples.backup.JobKind;
import io.dbsemaphore.samples.backup.JobState;
import io.dbsemaphore.samples.backup.demo.Run.Participant;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Runs for tests: instances {@code a} and {@code b}, times in seconds. */
final class Runs {

    private static final Duration INSTANCE_TIMEOUT = Duration.ofSeconds(10);

    private Runs() {}

    static Run run(int now, List<Participant> participants, Job... jobs) {
        return new Run(at(now), INSTANCE_TIMEOUT, participants, List.of(jobs));
    }

    static Participant working(String id, int seenAt) {
        return new Participant(id, at(0), at(seenAt), null);
    }

    static Participant finished(String id, int finishedAt) {
        return new Participant(id, at(0), at(finishedAt), at(finishedAt));
    }

    static Job done(String instance, JobKind kind, int startedAt, int endedAt) {
        return job(instance, kind, JobState.DONE, at(startedAt), at(endedAt));
    }

    static Job running(String instance, JobKind kind, int startedAt) {
        return job(instance, kind, JobState.RUNNING, at(startedAt), null);
    }

    static Job waiting(String instance, JobKind kind) {
        return job(instance, kind, JobState.WAITING, null, null);
    }

    static LocalDateTime at(int second) {
        return LocalDateTime.of(2026, 1, 1, 12, 0).plusSeconds(second);
    }

    private static Job job(
            String instance,
            JobKind kind,
            JobState state,
            @Nullable LocalDateTime startedAt,
            @Nullable LocalDateTime endedAt) {
        String id = instance + kind + startedAt;
        return new Job(id, kind, "job", instance, state, at(0), startedAt, endedAt);
    }
}
