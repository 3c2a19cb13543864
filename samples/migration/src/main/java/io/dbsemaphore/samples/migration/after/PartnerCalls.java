package io.dbsemaphore.samples.migration.after;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreOperations;
import java.time.Duration;
import java.util.function.Supplier;

/** Without RSemaphore: semaphore.semaphores.partner.capacity=50. */
public class PartnerCalls {

    private static final AcquireRequest CALL = AcquireRequest.of("partner").withWaitTime(Duration.ofSeconds(2));

    private final SemaphoreOperations semaphores;

    public PartnerCalls(SemaphoreOperations semaphores) {
        this.semaphores = semaphores;
    }

    public String call(Supplier<String> request) {
        return semaphores.execute(CALL, grant -> request.get());
    }
}
