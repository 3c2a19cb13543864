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
    void allTenantsHaveALimitAndEachOneHas(Instances instances) throws Exception {
        CountedWork work = instances.work();
        List<Future<?>> reports = new ArrayList<>();

        create(instances, "acme", 3, reports);
        work.awaitFull("tenant:acme", 2, () -> instances.waiting("tenant:acme") == 1);
        create(instances, "premium-bank", 4, reports);
        work.awaitFull("tenant:premium-bank", 3, () -> instances.waiting("tenant:premium-bank") == 1);
        create(instances, "zoo", 2, reports);
        work.awaitFull("tenant", 6, () -> instances.waiting("tenant:zoo") == 1);
        assertThat(work.underWay("tenant:zoo"))
                .as("one of its two, since there are five others")
                .isEqualTo(1);

        work.end("tenant");
        for (Future<?> report : reports) {
            Concurrently.get(report, Instances.SOON);
        }
        assertThat(work.done("tenant")).hasSize(9);
        assertThat(work.peak("tenant:acme")).isEqualTo(2);
        assertThat(work.peak("tenant:premium-bank")).isEqualTo(3);
        assertThat(work.peak("tenant")).isEqualTo(6);
    }

    private static void create(Instances instances, String tenant, int number, List<Future<?>> reports) {
        for (int i = 0; i < number; i++) {
            TenantReports service = instances.bean(i % 2, TenantReports.class);
            reports.add(Concurrently.async(() -> {
                service.create(tenant);
                return tenant;
            }));
        }
    }
}
