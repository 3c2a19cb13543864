package io.dbsemaphore.samples.recipes.tenants;

import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.samples.recipes.Work;
import org.springframework.stereotype.Service;

/** A tenant with many reports does not hold up the others. */
@Service
class TenantReports {

    private final Work work;

    TenantReports(Work work) {
        this.work = work;
    }

    @WithPermits(
            names = {"tenants", "tenant:#{#tenant}"},
            waitTime = "1m")
    public void create(String tenant) {
        work.run("tenant:" + tenant);
    }
}
