package io.dbsemaphore.samples.recipes.httpexchange;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.dbsemaphore.samples.recipes.CountedWork;
import io.dbsemaphore.samples.recipes.Instances;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The warehouse counts the calls that it works on. */
@Slow
class HttpExchangeRecipeIntegrationTests {

    private static final int CALLS = 8;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicReference<CountedWork> work = new AtomicReference<>();
    private HttpServer warehouse;

    @BeforeEach
    void startWarehouse() throws IOException {
        warehouse = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        warehouse.createContext("/stock/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            work.get().run("warehouse", "call:" + path);
            byte[] stock = path.substring(path.length() - 1).getBytes(StandardCharsets.US_ASCII);
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, stock.length);
            exchange.getResponseBody().write(stock);
            exchange.close();
        });
        warehouse.setExecutor(threads);
        warehouse.start();
    }

    @AfterEach
    void stopWarehouse() {
        warehouse.stop(0);
        threads.shutdownNow();
    }

    @Test
    void callsTheWarehouseThreeTimesAtATime() throws Exception {
        String url = "http://localhost:" + warehouse.getAddress().getPort();
        try (Instances instances =
                Instances.of("httpexchange", "spring.http.serviceclient.warehouse.base-url=" + url)) {
            work.set(instances.work());
            List<Future<Integer>> calls = IntStream.range(0, CALLS)
                    .mapToObj(i -> Concurrently.async(
                            () -> instances.bean(i % 2, Warehouse.class).stock("bolt-" + i)))
                    .toList();

            work.get().awaitFull("call", 3, () -> instances.waiting("warehouse") == CALLS - 3);
            work.get().end("call");
            for (int i = 0; i < CALLS; i++) {
                assertThat(Concurrently.get(calls.get(i), Instances.SOON)).isEqualTo(i);
            }
            assertThat(work.get().done("call")).hasSize(CALLS);
            assertThat(work.get().peak("call")).isEqualTo(3);
        }
    }
}
