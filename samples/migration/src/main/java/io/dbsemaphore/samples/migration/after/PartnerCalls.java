package io.dbsemaphore.samples.migration.after;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreOperations;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/** At most 50 calls to a partner at the same time. */
public class PartnerCalls {

    private final SemaphoreOperations semaphores;

    public PartnerCalls(SemaphoreOperations semaphores) {
        this.semaphores = semaphores;
    }

    public String call(Supplier<String> request) throws InterruptedException {
        AcquireRequest permits = AcquireRequest.of("partner");
        Optional<PermitGrant> permit = semaphores.tryAcquire(
                permits.withWaitTime(Duration.ofSeconds(2)).withKeepAlive(true));
        if (!permit.isPresent()) {
            throw new IllegalStateException("The partner is busy");
        }
        try {
            return request.get();
        } finally {
            permit.ifPresent(PermitGrant::release);
        }
    }
}
