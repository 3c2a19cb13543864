package io.dbsemaphore.samples.backup;

import java.time.Duration;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Replicates while the client waits. If no permit is free, the answer is 429 at once. */
@RestController
class ReplicationController {

    private final ReplicationService replications;
    private final JobRunner runner;
    private final JobLog jobs;

    ReplicationController(ReplicationService replications, JobRunner runner, JobLog jobs) {
        this.replications = replications;
        this.runner = runner;
        this.jobs = jobs;
    }

    @PostMapping("/replications")
    Job replicate(@RequestParam String snapshot) {
        String id = runner.run(JobKind.REPLICATION, snapshot, work -> replications.replicate(work, Duration.ZERO));
        return jobs.find(id).orElseThrow();
    }
}
