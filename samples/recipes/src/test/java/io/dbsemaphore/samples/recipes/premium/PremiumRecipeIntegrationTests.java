package io.dbsemaphore.samples.recipes.premium;

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
class PremiumRecipeIntegrationTests {

    @Test
    void premiumCustomersHaveFiveTurnsForEachOfTheOthers(Instances instances) throws Exception {
        CountedWork work = instances.work();
        List<Future<?>> renderings = new ArrayList<>();
        renderings.add(render(instances, 0, "standard/first"));
        work.awaitFull("standard/first", 1, () -> true);
        for (String rendering : List.of("standard/a", "standard/b", "premium/a", "premium/b", "premium/c")) {
            int waiting = renderings.size();
            renderings.add(render(instances, waiting % 2, rendering));
            work.awaitFull(rendering, 0, () -> instances.waiting("renderings") == waiting);
        }

        String before = "standard/first";
        for (String next : List.of("standard/a", "premium/a", "premium/b", "premium/c", "standard/b")) {
            work.end(before);
            work.awaitFull(next, 1, () -> true);
            before = next;
        }
        work.end(before);
        for (Future<?> rendering : renderings) {
            Concurrently.get(rendering, Instances.SOON);
        }
    }

    private static Future<?> render(Instances instances, int instance, String rendering) {
        String[] parts = rendering.split("/");
        return Concurrently.async(() -> {
            instances.bean(instance, Renderings.class).render(parts[0], parts[1]);
            return rendering;
        });
    }
}
