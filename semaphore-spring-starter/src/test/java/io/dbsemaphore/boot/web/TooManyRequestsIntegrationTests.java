package io.dbsemaphore.boot.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.testing.TestDatabase;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

class TooManyRequestsIntegrationTests {

    private final TestDatabase.Schema database = TestDatabase.create();

    @AfterEach
    void dropTheDatabase() {
        database.close();
    }

    @Test
    void answersARefusedControllerOfSpringMvc() throws Exception {
        try (OrdersHost host = OrdersHost.web(database, Guarded.class)) {
            assertTooManyRequests(refused(host, "/guarded"));
        }
    }

    @Test
    void answersARefusedControllerOfWebFlux() throws Exception {
        try (OrdersHost host = OrdersHost.reactive(database, Guarded.class, Reactive.class)) {
            assertTooManyRequests(refused(host, "/guarded"));
            assertTooManyRequests(refused(host, "/reactive"));
        }
    }

    @Test
    void leavesTheAnswerToAnAdviceOfTheApplication() throws Exception {
        try (OrdersHost host = OrdersHost.web(database, Guarded.class, OwnAdvice.class)) {
            assertThat(refused(host, "/guarded").statusCode()).isEqualTo(503);
        }
    }

    @Test
    void leavesTheAnswerToAnAdviceOfAReactiveApplication() throws Exception {
        try (OrdersHost host = OrdersHost.reactive(database, Guarded.class, OwnAdvice.class)) {
            assertThat(refused(host, "/guarded").statusCode()).isEqualTo(503);
        }
    }

    @Test
    void leavesTheAnswerToSpringWhereItIsSwitchedOff() throws Exception {
        try (OrdersHost host = OrdersHost.web(database, Guarded.class, "semaphore.web.too-many-requests=false")) {
            assertThat(refused(host, "/guarded").statusCode()).isEqualTo(500);
        }
    }

    private static void assertTooManyRequests(HttpResponse<String> answer) {
        assertThat(answer.statusCode()).isEqualTo(429);
        assertThat(answer.headers().firstValueAsLong("Retry-After").orElseThrow())
                .isBetween(1L, 10L);
        assertThat(answer.headers().firstValue("Content-Type"))
                .hasValueSatisfying(type -> assertThat(type).startsWith("application/problem+json"));
        assertThat(answer.body()).contains("\"status\":429").doesNotContain("orders");
    }

    private static HttpResponse<String> refused(OrdersHost host, String path) throws Exception {
        try (PermitGrant grant = host.semaphores().acquire(AcquireRequest.of("orders"))) {
            return HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(URI.create("http://localhost:" + host.port() + path))
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
        }
    }

    @RestController
    static class Guarded {

        @GetMapping("/guarded")
        @WithPermits("orders")
        public String guarded() {
            return "done";
        }
    }

    @RestController
    static class Reactive {

        @GetMapping("/reactive")
        @WithPermits("orders")
        public Mono<String> reactive() {
            return Mono.just("done");
        }
    }

    @ControllerAdvice
    static class OwnAdvice {

        @ExceptionHandler
        ResponseEntity<String> busy(PermitsUnavailableException refused) {
            return ResponseEntity.status(503).body("busy");
        }
    }
}
