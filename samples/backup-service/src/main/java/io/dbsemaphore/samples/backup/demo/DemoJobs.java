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

    /** Starts them, all at once. */
    void start() {
        for (int number = 1; number <= properties.backups(); number++) {
            runner.start(JobKind.BACKUP, "backup-" + number, backUp);
        }
        for (int number = 1; number <= properties.replications(); number++) {
            runner.start(JobKind.REPLICATION, "replication-" + number, replicate);
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
