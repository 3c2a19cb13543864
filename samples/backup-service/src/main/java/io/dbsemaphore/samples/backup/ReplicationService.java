package io.dbsemaphore.samples.backup;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreTemplate;
import java.time.Duration;
import org.springframework.stereotype.Service;

/** Replicates snapshots to another site. What differs from call to call is said in code rather than by annotation. */
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
     * @param patience how long to wait for the permit
     * @throws PermitsUnavailableException when it did not become free; nothing was copied
     */
    public void replicate(Snapshot snapshot, Duration patience) {
        semaphores.executeWithoutResult(
                NETWORK.withWaitTime(patience), grant -> transfer.copy(snapshot, grant::isHeld));
    }
}
