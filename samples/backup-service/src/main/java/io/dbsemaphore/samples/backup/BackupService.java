package io.dbsemaphore.samples.backup;

import io.dbsemaphore.Permits;
import io.dbsemaphore.annotation.WithPermits;
import org.springframework.stereotype.Service;

/** Backs up snapshots. */
@Service
public class BackupService {

    private final Transfer transfer;

    BackupService(Transfer transfer) {
        this.transfer = transfer;
    }

    /**
     * Backs up one snapshot. It needs a permit of the storage ({@code backup}) and one of the {@code network}: both or
     * neither, across all instances.
     *
     * <p>They are kept alive while the method runs, and released when it ends. Those of a
     * process that was killed are free again when its heartbeat has been missing for
     * {@code semaphore.instance-timeout}, or at the latest when the TTL has passed.
     */
    @WithPermits(
            names = {"backup", "network"},
            waitTime = "${backup.wait-time:10m}")
    public void backUp(Snapshot snapshot) {
        transfer.copy(snapshot, Permits.current()::isHeld);
    }
}
