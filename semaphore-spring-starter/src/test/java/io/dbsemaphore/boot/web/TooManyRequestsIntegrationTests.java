package io.dbsemaphore.boot.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.testing.TestDatabase;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
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
    void leavesTheAnswerToAnAdviceOfAnAutoConfiguration() throws Exception {
        try (OrdersHost host = OrdersHost.web(database, Guarded.class, OwnStarter.class)) {
            assertThat(refused(host, "/guarded").statusCode()).isEqualTo(503);
        }
    }

    @Test
    void leavesAStatusThatTheApplicationHasChosen() throws Exception {
        try (OrdersHost servlet = OrdersHost.web(database, OwnStatus.class);
                OrdersHost reactive = OrdersHost.reactive(database, OwnStatus.class)) {
            for (OrdersHost host : new OrdersHost[] {servlet, reactive}) {
                assertThat(refused(host, "/status-exception").statusCode()).isEqualTo(503);
                assertThat(refused(host, "/own-exception").statusCode()).isEqualTo(409);
            }
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

    @RestController
    static class OwnStatus {

        private final SemaphoreTemplate semaphores;

        OwnStatus(SemaphoreTemplate semaphores) {
            this.semaphores = semaphores;
        }

        @GetMapping("/status-exception")
        String statusException() {
            return work(busy -> new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE, "busy", busy));
        }

        @GetMapping("/own-exception")
        String ownException() {
            return work(Busy::new);
        }

        private String work(Function<PermitsUnavailableException, RuntimeException> refusal) {
            try {
                return semaphores.execute(AcquireRequest.of("orders"), grant -> "done");
            } catch (PermitsUnavailableException busy) {
                throw refusal.apply(busy);
            }
        }
    }

    @ResponseStatus(HttpStatus.CONFLICT)
    static class Busy extends RuntimeException {

        private static final long serialVersionUID = 1L;

        Busy(Throwable cause) {
            super(cause);
        }
    }

    /** Sorted behind that of the library, by its name. */
    @AutoConfiguration
    static class LateAutoConfiguration {

        @Bean
        OwnAdvice ownAdvice() {
            return new OwnAdvice();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(LateAutoConfiguration.class)
    static class OwnStarter {}

    @ControllerAdvice
    static class OwnAdvice {

        @ExceptionHandler
        ResponseEntity<String> busy(PermitsUnavailableException refused) {
            return ResponseEntity.status(503).body("busy");
        }
    }
}
