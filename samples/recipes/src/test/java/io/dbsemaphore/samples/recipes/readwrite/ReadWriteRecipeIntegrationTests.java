package io.dbsemaphore.samples.recipes.readwrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.samples.recipes.CountedWork;
import io.dbsemaphore.samples.recipes.Instances;
import io.dbsemaphore.testing.Concurrently;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class ReadWriteRecipeIntegrationTests {

    @Test
    void readersAreTogetherAndTheWriterIsAlone() throws Exception {
        try (Instances instances = Instances.of("readwrite")) {
            CountedWork work = instances.work();
            List<Future<?>> calls = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                calls.add(read(instances, i % 2, "early:" + i));
            }
            await().atMost(Instances.SOON).until(() -> work.underWay("early") == 4);

            calls.add(Concurrently.async(() -> {
                instances.bean(1, Catalog.class).rebuild();
                return 1;
            }));
            await().atMost(Instances.SOON).until(() -> instances.waiting("catalog") == 1);
            calls.add(read(instances, 0, "late:1"));
            await().atMost(Instances.SOON).until(() -> instances.waiting("catalog") == 2);
            assertThat(work.peak("rebuild")).as("writers beside readers").isZero();

            work.end("early");
            await().atMost(Instances.SOON).until(() -> work.underWay("rebuild") == 1);
            assertThat(work.underWay("early")).isZero();
            assertThat(work.peak("late")).as("readers beside the writer").isZero();

            work.end("rebuild");
            await().atMost(Instances.SOON).until(() -> work.underWay("late") == 1);
            assertThat(work.underWay("rebuild")).isZero();
            work.end("late");
            for (Future<?> call : calls) {
                Concurrently.get(call, Instances.SOON);
            }
        }
    }

    private static Future<?> read(Instances instances, int instance, String article) {
        return Concurrently.async(() -> {
            instances.bean(instance, Catalog.class).read(article);
            return article;
        });
    }
}
