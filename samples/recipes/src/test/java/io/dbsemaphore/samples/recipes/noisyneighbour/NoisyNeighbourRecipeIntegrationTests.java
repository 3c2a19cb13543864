package io.dbsemaphore.samples.recipes.noisyneighbour;

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
class NoisyNeighbourRecipeIntegrationTests {

    @Test
    void aTenantWithManyDocumentsDelaysAnotherByOne(Instances instances) throws Exception {
        CountedWork work = instances.work();
        List<Future<?>> documents = new ArrayList<>();
        for (String document : List.of("noisy/1", "noisy/2")) {
            documents.add(print(instances, 0, document));
            work.awaitFull(document, 1, () -> true);
        }
        for (String document : List.of("noisy/3", "noisy/4", "noisy/5", "quiet/1")) {
            int waiting = documents.size() - 1;
            documents.add(print(instances, documents.size() % 2, document));
            work.awaitFull(document, 0, () -> instances.waiting("documents") == waiting);
        }

        work.end("noisy/1");
        work.awaitFull("noisy/3", 1, () -> true);
        work.end("noisy/2");
        work.awaitFull("quiet/1", 1, () -> true);
        assertThat(work.peak("noisy/4") + work.peak("noisy/5"))
                .as("those that came before it, but have had a turn")
                .isZero();

        for (String document : List.of("noisy/3", "noisy/4", "noisy/5", "quiet/1")) {
            work.end(document);
        }
        for (Future<?> document : documents) {
            Concurrently.get(document, Instances.SOON);
        }
    }

    private static Future<?> print(Instances instances, int instance, String document) {
        String[] parts = document.split("/");
        return Concurrently.async(() -> {
            instances.bean(instance, Documents.class).print(parts[0], parts[1]);
            return document;
        });
    }
}
