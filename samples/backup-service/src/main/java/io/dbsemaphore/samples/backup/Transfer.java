package io.dbsemaphore.samples.backup;

import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import org.springframework.stereotype.Component;

/** Copies a snapshot, block by block. The copying is simulated; its entries in the job log are real. */
@Component
public class Transfer {

    private final JobLog jobs;
    private final TransferProperties properties;

    Transfer(JobLog jobs, TransferProperties properties) {
        this.jobs = jobs;
        this.properties = properties;
    }

    /**
     * Copies a snapshot.
     *
     * @param permitted asked before each block: a job that lost its permits stops, since another job may hold them by now
     */
    public void copy(Snapshot snapshot, BooleanSupplier permitted) {
        JobState outcome = JobState.FAILED;
        jobs.started(snapshot.jobId());
        try {
            for (int block = blocks(); block > 0; block--) {
                if (!permitted.getAsBoolean()) {
                    throw new IllegalStateException(
                            "The permits of " + snapshot + " are lost; " + block + " blocks were not copied");
                }
                Pause.of(properties.block());
            }
            outcome = JobState.DONE;
        } finally {
            jobs.ended(snapshot.jobId(), outcome);
        }
    }

    private int blocks() {
        return ThreadLocalRandom.current().nextInt(properties.minBlocks(), properties.maxBlocks() + 1);
    }
}
