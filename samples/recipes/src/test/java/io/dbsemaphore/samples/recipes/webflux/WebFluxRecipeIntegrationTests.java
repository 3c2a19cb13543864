package io.dbsemaphore.samples.recipes.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.samples.recipes.CountedWork;
import io.dbsemaphore.samples.recipes.Instances;
import io.dbsemaphore.samples.recipes.Requests;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class WebFluxRecipeIntegrationTests {

    private static final int EXPORTS = 6;

    @Test
    void exportsThreeAtATimeAndTheOthersWaitOrAreRefused() throws Exception {
        try (Instances instances =
                Instances.of("webflux", "exports.wait=15s", "spring.main.web-application-type=reactive")) {
            CountedWork work = instances.work();
            List<CompletableFuture<HttpResponse<String>>> responses = new ArrayList<>();
            for (int i = 0; i < EXPORTS; i++) {
                responses.add(Requests.post(instances.port(i % 2), "/exports/export:" + i));
            }

            work.awaitFull(
                    "export",
                    3,
                    () -> responses.stream().filter(CompletableFuture::isDone).count() == EXPORTS - 3);
            assertThat(instances.refused()).isEqualTo(EXPORTS - 3);
            responses.add(Requests.post(instances.port(0), "/exports/export:late"));
            work.awaitFull("export", 3, () -> instances.waiting("exports") == 1);
            work.end("export");
            assertThat(responses.stream().map(CompletableFuture::join).map(HttpResponse::statusCode))
                    .containsOnly(200, 429)
                    .filteredOn(status -> status == 200)
                    .hasSize(4);
            assertThat(work.peak("export")).isEqualTo(3);
        }
    }
}
