package io.dbsemaphore.samples.recipes.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.samples.recipes.CountedWork;
import io.dbsemaphore.samples.recipes.Instances;
import io.dbsemaphore.samples.recipes.Requests;
import io.dbsemaphore.samples.recipes.SharedInstances;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedInstances.class)
class HttpRecipeIntegrationTests {

    @Test
    void refusesTheFourthRequestOfAllInstancesUntilOneEnds(Instances instances) {
        CountedWork work = instances.work();
        List<CompletableFuture<HttpResponse<String>>> created = IntStream.range(0, 3)
                .mapToObj(i -> Requests.post(instances.port(i % 2), "/reports/report:" + i))
                .toList();
        work.awaitFull("report", 3, () -> true);

        for (int instance = 0; instance < 2; instance++) {
            CompletableFuture<HttpResponse<String>> late =
                    Requests.post(instances.port(instance), "/reports/report:late");
            work.awaitFull("report", 3, late::isDone);
            HttpResponse<String> refused = late.join();
            assertThat(refused.statusCode()).isEqualTo(429);
            assertThat(refused.headers().firstValueAsLong("Retry-After").orElseThrow())
                    .isBetween(1L, 10L);
            assertThat(refused.headers().firstValue("Content-Type")).hasValue("application/problem+json");
        }
        work.end("report");
        assertThat(created)
                .allSatisfy(response -> assertThat(response.join().statusCode()).isEqualTo(200));
        assertThat(Requests.post(instances.port(0), "/reports/report:again")
                        .join()
                        .statusCode())
                .isEqualTo(200);
        assertThat(work.peak("report")).isEqualTo(3);
    }
}
