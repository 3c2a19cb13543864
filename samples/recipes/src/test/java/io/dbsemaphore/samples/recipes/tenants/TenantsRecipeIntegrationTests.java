package io.dbsemaphore.samples.recipes.tenants;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.samples.recipes.CountedWork;
import io.dbsemaphore.samples.recipes.Instances;
import io.dbsemaphore.samples.recipes.SharedInstances;
import io.dbsemaphore.testing.Concurrently;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedInstances.class)
class TenantsRecipeIntegrationTests {

    @Test
    void eachTenantHasALimitOfItsOwn(Instances instances) throws Exception {
        CountedWork work = instances.work();
        List<Future<?>> reports = new ArrayList<>();
        for (String tenant : List.of("acme", "premium-bank")) {
            for (int i = 0; i < 4; i++) {
                TenantReports service = instances.bean(i % 2, TenantReports.class);
                reports.add(Concurrently.async(() -> {
                    service.create(tenant);
                    return tenant;
                }));
            }
        }

        work.awaitFull("acme", 2, () -> instances.waiting("tenant:acme") == 2);
        work.awaitFull("premium-bank", 3, () -> instances.waiting("tenant:premium-bank") == 1);
        work.end("acme");
        work.end("premium-bank");
        for (Future<?> report : reports) {
            Concurrently.get(report, Instances.SOON);
        }
        assertThat(work.peak("acme")).isEqualTo(2);
        assertThat(work.peak("premium-bank")).isEqualTo(3);
    }
}
