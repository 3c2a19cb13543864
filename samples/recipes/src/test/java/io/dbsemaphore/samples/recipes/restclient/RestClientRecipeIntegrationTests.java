package io.dbsemaphore.samples.recipes.restclient;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.dbsemaphore.samples.recipes.CountedWork;
import io.dbsemaphore.samples.recipes.Instances;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.client.RestClient;

/** The partner counts the calls that it works on. */
@Slow
class RestClientRecipeIntegrationTests {

    private static final int CALLERS = 8;
    private static final int CALLS_OF_ONE = 50;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicReference<CountedWork> work = new AtomicReference<>();
    private HttpServer partner;

    @BeforeEach
    void startPartner() throws IOException {
        partner = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        partner.createContext("/", exchange -> {
            work.get().run("partner", "call");
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write(new byte[] {'o', 'k'});
            exchange.close();
        });
        partner.setExecutor(threads);
        partner.start();
    }

    @AfterEach
    void stopPartner() {
        partner.stop(0);
        threads.shutdownNow();
    }

    @Test
    void callsThePartnerThreeTimesAtATimeAndReusesPermits() throws Exception {
        String url = "http://localhost:" + partner.getAddress().getPort();
        try (Instances instances =
                Instances.of("restclient", "partner.url=" + url, "semaphore.semaphores.partner.reuse=10s")) {
            work.set(instances.work());
            List<Future<String>> calls = IntStream.range(0, CALLERS)
                    .mapToObj(i -> Concurrently.async(() -> call(instances, i)))
                    .toList();

            work.get().awaitFull("call", 3, () -> instances.waiting("partner") == CALLERS - 3);
            work.get().end("call");
            for (Future<String> call : calls) {
                assertThat(Concurrently.get(call, Instances.SOON)).isEqualTo("ok");
            }
            Concurrently.run(2, Instances.SOON, i -> {
                for (int j = 0; j < CALLS_OF_ONE; j++) {
                    call(instances, i);
                }
            });
            assertThat(work.get().done("call")).hasSize(CALLERS + 2 * CALLS_OF_ONE);
            assertThat(work.get().peak("call")).isEqualTo(3);
            assertThat(instances
                            .bean(0, JdbcTemplate.class)
                            .queryForObject("select count(*) from permit_request", Integer.class))
                    .as("grants of the database")
                    .isLessThan(CALLERS + CALLS_OF_ONE);
        }
    }

    private static String call(Instances instances, int caller) {
        return instances
                .bean(caller % 2, RestClient.class)
                .get()
                .uri("/")
                .retrieve()
                .body(String.class);
    }
}
