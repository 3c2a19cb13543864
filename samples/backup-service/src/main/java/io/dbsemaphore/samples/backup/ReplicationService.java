package io.dbsemaphore.samples.backup;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreTemplate;
import java.time.Duration;
import org.springframework.stereotype.Service;

/** Replicates snapshots to another site. The wait time differs from call to call, so permits are acquired in code instead of by annotation. */
@Service
public class ReplicationService {

    private static final AcquireRequest NETWORK = AcquireRequest.of("network");

    private final SemaphoreTemplate semaphores;
    private final Transfer transfer;

    ReplicationService(SemaphoreTemplate semaphores, Transfer transfer) {
        this.semaphores = semaphores;
        this.transfer = transfer;
    }

    /**
     * Replicates one snapshot, which needs a permit of the {@code network} only.
     *
     * @param waitTime how long to wait for the permit
     * @throws PermitsUnavailableException when it did not become free; nothing was copied
     */
    public void replicate(Snapshot snapshot, Duration waitTime) {
        semaphores.executeWithoutResult(
                NETWORK.withWaitTime(waitTime), grant -> transfer.copy(snapshot, grant::isHeld));
    }
}
