package io.dbsemaphore.samples.backup.demo;

import io.dbsemaphore.samples.backup.BackupService;
import io.dbsemaphore.samples.backup.Job;
import io.dbsemaphore.samples.backup.JobKind;
import io.dbsemaphore.samples.backup.JobRunner;
import io.dbsemaphore.samples.backup.JobState;
import io.dbsemaphore.samples.backup.ReplicationService;
import io.dbsemaphore.samples.backup.Snapshot;
import io.dbsemaphore.samples.backup.ThisInstance;
import io.dbsemaphore.samples.backup.Transfer;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/** The jobs that this instance adds to the run. */
@Component
@Profile("demo")
class DemoJobs {

    private final DemoProperties properties;
    private final ThisInstance instance;
    private final JobRunner runner;
    private final Consumer<Snapshot> backUp;
    private final Consumer<Snapshot> replicate;

    private long startedAt;

    DemoJobs(
            DemoProperties properties,
            ThisInstance instance,
            JobRunner runner,
            BackupService backups,
            ReplicationService replications,
            Transfer transfer) {
        this.properties = properties;
        this.instance = instance;
        this.runner = runner;
        this.backUp = properties.breakLimit() ? snapshot -> transfer.copy(snapshot, () -> true) : backups::backUp;
        this.replicate = snapshot -> replications.replicate(snapshot, properties.timeLimit());
    }

    /** Starts the first jobs: as many as wait or run at the same time. */
    void start() {
        startedAt = System.nanoTime();
        start(List.of());
    }

    /** Starts another job for each that has ended; returns false when the time for that is over. */
    boolean goOn(Run run) {
        boolean goesOn = System.nanoTime() - startedAt < properties.duration().toNanos();
        if (goesOn) {
            start(run.jobsOf(instance.id()));
        }
        return goesOn;
    }

    private void start(List<Job> known) {
        start(JobKind.BACKUP, properties.backups(), known, backUp);
        start(JobKind.REPLICATION, properties.replications(), known, replicate);
    }

    private void start(JobKind kind, int atOnce, List<Job> known, Consumer<Snapshot> work) {
        List<Job> same = known.stream().filter(job -> job.kind() == kind).toList();
        long ended = same.stream().filter(job -> job.state().isFinal()).count();
        for (int number = same.size() + 1; number <= atOnce + ended; number++) {
            runner.start(kind, kind.name().toLowerCase(Locale.ROOT) + "-" + number, work);
        }
    }

    /** Whether all of them have ended, well or not. */
    boolean haveEnded(Run run) {
        return all(run, job -> job.state().isFinal());
    }

    /** Whether all of them have done their work. */
    boolean areDone(Run run) {
        return all(run, job -> job.state() == JobState.DONE);
    }

    private boolean all(Run run, Predicate<Job> condition) {
        List<Job> jobs = run.jobsOf(instance.id());
        return jobs.size() >= properties.backups() + properties.replications()
                && jobs.stream().allMatch(condition);
    }
}
