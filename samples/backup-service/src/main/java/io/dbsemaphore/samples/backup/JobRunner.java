package io.dbsemaphore.samples.backup;

import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreClosedException;
import java.util.UUID;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.task.TaskExecutor;
import org.springframework.core.task.TaskRejectedException;
import org.springframework.stereotype.Component;

/** Runs jobs, and logs those that are refused or fail. */
@Component
public class JobRunner {

    private static final Logger log = LoggerFactory.getLogger(JobRunner.class);

    private final JobLog jobs;
    private final TaskExecutor executor;

    JobRunner(JobLog jobs, TaskExecutor executor) {
        this.jobs = jobs;
        this.executor = executor;
    }

    /** Starts a job, and returns its id at once. It is refused if this service stops. */
    public String start(JobKind kind, String snapshotName, Consumer<Snapshot> work) {
        Snapshot snapshot = enter(kind, snapshotName);
        try {
            executor.execute(() -> runAndLog(snapshot, work));
        } catch (TaskRejectedException e) {
            jobs.ended(snapshot.jobId(), JobState.REFUSED);
            logStop(snapshot);
        }
        return snapshot.jobId();
    }

    /**
     * Runs a job on this thread, and returns its id.
     *
     * @throws PermitsUnavailableException when the work threw it
     */
    public String run(JobKind kind, String snapshotName, Consumer<Snapshot> work) {
        Snapshot snapshot = enter(kind, snapshotName);
        run(snapshot, work);
        return snapshot.jobId();
    }

    private Snapshot enter(JobKind kind, String snapshotName) {
        Snapshot snapshot = new Snapshot(UUID.randomUUID().toString(), snapshotName);
        jobs.requested(snapshot, kind);
        return snapshot;
    }

    private void runAndLog(Snapshot snapshot, Consumer<Snapshot> work) {
        try {
            run(snapshot, work);
        } catch (PermitsUnavailableException e) {
            log.info("{} was refused: {}", snapshot, e.getMessage());
        } catch (SemaphoreClosedException e) {
            logStop(snapshot);
        } catch (RuntimeException e) {
            log.warn("{} failed: {}", snapshot, e.getMessage(), e);
        }
    }

    private void run(Snapshot snapshot, Consumer<Snapshot> work) {
        try {
            work.accept(snapshot);
        } catch (PermitsUnavailableException | SemaphoreClosedException e) {
            jobs.ended(snapshot.jobId(), JobState.REFUSED);
            throw e;
        } catch (RuntimeException e) {
            jobs.ended(snapshot.jobId(), JobState.FAILED);
            throw e;
        }
    }

    private static void logStop(Snapshot snapshot) {
        log.info("{} was refused: this service stops", snapshot);
    }
}
