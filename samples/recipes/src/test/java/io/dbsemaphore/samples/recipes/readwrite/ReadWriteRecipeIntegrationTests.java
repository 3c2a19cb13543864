package io.dbsemaphore.samples.recipes.readwrite;

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
class ReadWriteRecipeIntegrationTests {

    @Test
    void readersAreTogetherAndTheWriterIsAlone(Instances instances) throws Exception {
        CountedWork work = instances.work();
        List<Future<?>> calls = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            calls.add(read(instances, i % 2, "early:" + i));
        }
        work.awaitFull("early", 4, () -> true);

        calls.add(Concurrently.async(() -> {
            instances.bean(1, Catalog.class).rebuild();
            return 1;
        }));
        work.awaitFull("rebuild", 0, () -> instances.waiting("catalog") == 1);
        calls.add(read(instances, 0, "late:1"));
        work.awaitFull("late", 0, () -> instances.waiting("catalog") == 2);
        assertThat(work.peak("rebuild")).as("writers beside readers").isZero();

        work.end("early");
        work.awaitFull("rebuild", 1, () -> true);
        assertThat(work.underWay("early")).isZero();
        assertThat(work.peak("late")).as("readers beside the writer").isZero();

        work.end("rebuild");
        work.awaitFull("late", 1, () -> true);
        assertThat(work.underWay("rebuild")).isZero();
        work.end("late");
        for (Future<?> call : calls) {
            Concurrently.get(call, Instances.SOON);
        }
    }

    private static Future<?> read(Instances instances, int instance, String article) {
        return Concurrently.async(() -> {
            instances.bean(instance, Catalog.class).read(article);
            return article;
        });
    }
}
