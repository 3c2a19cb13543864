package io.dbsemaphore.samples.backup;

import java.net.URI;
import java.util.List;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Starts backups in the background. Each waits for its permits. */
@RestController
@RequestMapping("/backups")
class BackupController {

    private final BackupService backups;
    private final JobRunner runner;
    private final JobLog jobs;

    BackupController(BackupService backups, JobRunner runner, JobLog jobs) {
        this.backups = backups;
        this.runner = runner;
        this.jobs = jobs;
    }

    @PostMapping
    ResponseEntity<JobId> start(@RequestParam String snapshot) {
        String id = runner.start(JobKind.BACKUP, snapshot, backups::backUp);
        return ResponseEntity.accepted().location(URI.create("/backups/" + id)).body(new JobId(id));
    }

    @GetMapping
    List<Job> recent() {
        return jobs.recent();
    }

    @GetMapping("/{id}")
    ResponseEntity<Job> find(@PathVariable String id) {
        return ResponseEntity.of(jobs.find(id));
    }

    record JobId(String id) {}
}
