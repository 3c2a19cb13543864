package io.dbsemaphore.samples.recipes.batch;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreTemplate;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.batch.core.ExitStatus;
import org.springframework.batch.core.listener.StepExecutionListener;
import org.springframework.batch.core.step.StepExecution;

/** A step has its permits from before its first transaction until after its last one. */
class StepPermits implements StepExecutionListener {

    private final Map<Long, PermitGrant> grants = new ConcurrentHashMap<>();
    private final SemaphoreTemplate semaphores;
    private final AcquireRequest request;

    StepPermits(SemaphoreTemplate semaphores, AcquireRequest request) {
        this.semaphores = semaphores;
        this.request = request.withKeepAlive(true);
    }

    @Override
    public void beforeStep(StepExecution step) {
        grants.put(step.getId(), semaphores.acquire(request));
    }

    @Override
    public @Nullable ExitStatus afterStep(StepExecution step) {
        PermitGrant grant = grants.remove(step.getId());
        if (grant != null) {
            grant.close();
        }
        return null;
    }
}
