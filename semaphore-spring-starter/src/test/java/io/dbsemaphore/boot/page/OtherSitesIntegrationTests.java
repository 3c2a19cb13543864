package io.dbsemaphore.boot.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * What pages of other sites cannot do with the browser of somebody who reaches the endpoint, in servlet and in reactive
 * applications: show the page in a frame, read it out of a cache, or, under a name that resolves to its address, change something.
 */
@Slow
class OtherSitesIntegrationTests {

    private static final String[] WRITABLE = {
        "management.endpoints.web.exposure.include=semaphores,health",
        "management.endpoint.semaphores.set-capacity-enabled=true",
        "management.endpoint.semaphores.force-release-enabled=true"
    };
    private static final String ANONYMOUS = "management.endpoint.semaphores.anonymous-write-enabled=true";

    private static TestDatabase.Schema database;
    private static Map<String, OrdersHost> hosts;

    @BeforeAll
    static void start() {
        database = TestDatabase.create();
        hosts = Map.of(
                "servlet", OrdersHost.web(database, with(WRITABLE, Files.class)),
                "reactive", OrdersHost.reactive(database, (Object[]) WRITABLE));
    }

    @AfterAll
    static void stop() {
        hosts.values().forEach(OrdersHost::close);
        database.close();
    }

    static Stream<Arguments> answers() {
        return Stream.of("servlet", "reactive")
                .flatMap(host -> Stream.of(
                        Arguments.of(host, "", Http.BROWSER, 200),
                        Arguments.of(host, ";x=1", Http.BROWSER, 200),
                        Arguments.of(host, "", "application/json", 200),
                        Arguments.of(host, "/orders", "application/json", 200),
                        Arguments.of(host, "/%6Frders", "application/json", 200),
                        Arguments.of(host, "?limit=10", "application/json", 200),
                        Arguments.of(host, "?limit=none", "application/json", 400),
                        Arguments.of(host, "/nothing", "application/json", 404),
                        Arguments.of(host, "/orders/4711", "application/json", 404)));
    }

    @ParameterizedTest
    @MethodSource("answers")
    void everyAnswerHasTheHeaders(String host, String path, String accept, int status) {
        assertProtected(hosts.get(host).port(), "/actuator/semaphores" + path, accept, status);
    }

    /** As Spring's mapping decodes it. */
    @ParameterizedTest
    @MethodSource("kinds")
    void theHeadersDoNotDependOnTheSpellingOfThePath(String host) {
        assertProtected(hosts.get(host).port(), "/actuator/sem%61phores", Http.BROWSER, 200);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void otherAnswersOfTheApplicationAreItsOwnAffair(String host) {
        HttpHeaders headers = headers(hosts.get(host).port(), "/actuator/health", "application/json", 200);

        assertThat(headers.map()).doesNotContainKey("content-security-policy");
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void thePageIsNotShownInAFrame(String host) {
        String address =
                "http://localhost:%d/actuator".formatted(hosts.get(host).port());
        try (Browser browser = Browser.start()) {
            browser.open(address + "/health");
            browser.run(
                    "window.frame = document.createElement('iframe'); frame.onload = () => window.loaded = true;"
                            + " frame.src = arguments[0]; document.body.append(frame)",
                    address + "/semaphores");
            Awaitility.await()
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> browser.run("return window.loaded") == Boolean.TRUE);

            assertThat(browser.run("return frame.contentDocument === null"))
                    .as("not of this origin, but the browser's own page of an error")
                    .isEqualTo(true);
        }
    }

    /** As of a file server, or of a framework that has a servlet of its own. */
    @Test
    void anotherServletGetsItsRequests() {
        String url = "/%66iles/report";

        HttpHeaders headers = headers(hosts.get("servlet").port(), url, "text/plain", 200);

        assertThat(headers.map()).doesNotContainKeys("x-frame-options", "content-security-policy");
    }

    @Test
    void aPathThatEndsAsThatOfTheEndpointHasNoHeaders() {
        String[] atTheRoot = {
            "management.endpoints.web.base-path=/", "management.endpoints.web.exposure.include=semaphores"
        };
        try (OrdersHost servlet = OrdersHost.web(database, with(atTheRoot, Crossings.class));
                OrdersHost reactive = OrdersHost.reactive(database, with(atTheRoot, Crossings.class))) {
            for (OrdersHost host : new OrdersHost[] {servlet, reactive}) {
                assertProtected(host.port(), "/semaphores", Http.BROWSER, 200);
                assertThat(headers(host.port(), "/crossings/7/semaphores", "text/plain", 200)
                                .map())
                        .doesNotContainKeys("x-frame-options", "content-security-policy");
            }
        }
    }

    @Test
    void theHeadersAreThereBelowThePathsOfTheContextAndOfTheServlet() {
        try (OrdersHost host = OrdersHost.web(
                database, with(WRITABLE, "server.servlet.context-path=/app", "spring.mvc.servlet.path=/api"))) {
            assertProtected(host.port(), "/app/api/actuator/semaphores", Http.BROWSER, 200);
        }
    }

    static Stream<String> kinds() {
        return Stream.of("servlet", "reactive");
    }

    @Test
    void theHeadersAreThereOnAManagementPortWithAPathOfItsOwn() {
        String[] apart = {
            "management.server.port=0",
            "management.server.base-path=/ops",
            "management.endpoints.web.base-path=/",
            "management.endpoints.web.path-mapping.semaphores=limits",
            "management.endpoints.web.exposure.include=semaphores"
        };
        try (OrdersHost servlet = OrdersHost.web(database, (Object[]) apart);
                OrdersHost reactive = OrdersHost.reactive(database, (Object[]) apart)) {
            for (OrdersHost host : new OrdersHost[] {servlet, reactive}) {
                int port =
                        Integer.parseInt(host.context().getEnvironment().getRequiredProperty("local.management.port"));
                assertProtected(port, "/ops/limits", Http.BROWSER, 200);
                assertProtected(port, "/ops/limits/orders", "application/json", 200);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aReleaseWithoutAUserIsRefusedUnderAForeignName(String kind) {
        OrdersHost host = hosts.get(kind);
        host.admin().create("rebound-" + kind, 1);
        PermitGrant held =
                host.semaphores().acquire(AcquireRequest.of("rebound-" + kind).withTtl(Duration.ofHours(1)));

        String answer = raw(
                host,
                "DELETE /actuator/semaphores?reason=x&name=%s&externalId=%s"
                        .formatted("rebound-" + kind, URLEncoder.encode(held.externalId(), StandardCharsets.UTF_8)));

        assertThat(answer)
                .startsWith("HTTP/1.1 403")
                .contains("Nothing was changed: the request has no authenticated user")
                .contains("management.endpoint.semaphores.anonymous-write-enabled=true");
        assertThat(host.admin().holders("rebound-" + kind)).hasSize(1);
        held.release();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aChangeOfACapacityWithoutAUserIsRefused(String kind) {
        OrdersHost host = hosts.get(kind);

        Http.Answer answer = change(host, 7);

        assertThat(answer.status()).isEqualTo(403);
        assertThat(answer.body()).contains("the request has no authenticated user");
        assertThat(host.admin().find("orders").orElseThrow().capacity()).isEqualTo(1);
        assertThat(host.admin().capacityHistory("orders")).isEmpty();
    }

    @Test
    void whereTheApplicationAllowsItTheyAreMadeByAnonymous() {
        try (TestDatabase.Schema own = TestDatabase.create();
                OrdersHost servlet = OrdersHost.web(
                        own,
                        Stream.concat(Stream.of(WRITABLE), Stream.of(ANONYMOUS)).toArray());
                OrdersHost reactive = OrdersHost.reactive(
                        own,
                        Stream.concat(Stream.of(WRITABLE), Stream.of(ANONYMOUS)).toArray())) {
            assertThat(change(servlet, 7).status()).isEqualTo(200);
            assertThat(change(reactive, 8).status()).isEqualTo(200);

            assertThat(servlet.admin().capacityHistory("orders"))
                    .extracting(CapacityChange::to, CapacityChange::changedBy)
                    .containsExactly(tuple(8, "anonymous"), tuple(7, "anonymous"));
        }
    }

    private static Http.Answer change(OrdersHost host, int capacity) {
        return Http.send(HttpRequest.newBuilder(
                        URI.create("http://localhost:%d/actuator/semaphores".formatted(host.port())))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(
                        "{\"name\": \"orders\", \"capacity\": \"%d\", \"reason\": \"a test\"}".formatted(capacity)))
                .build());
    }

    private static Object[] with(String[] properties, Object... more) {
        return Stream.concat(Stream.of(properties), Stream.of(more)).toArray();
    }

    private static void assertProtected(int port, String path, String accept, int status) {
        HttpHeaders headers = headers(port, path, accept, status);

        assertThat(headers.allValues("Content-Security-Policy")).as(path).containsExactly("frame-ancestors 'none'");
        assertThat(headers.allValues("X-Content-Type-Options")).as(path).containsExactly("nosniff");
        assertThat(headers.allValues("Cache-Control")).as(path).containsExactly("no-store");
    }

    private static HttpHeaders headers(int port, String path, String accept, int status) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:%d%s".formatted(port, path)))
                .header("Accept", accept)
                .build();
        try {
            var response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
            assertThat(response.statusCode()).as(path + response.body()).isEqualTo(status);
            return response.headers();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupt);
        }
    }

    /** As a browser sends it that believes the endpoint to be a part of the other site. */
    private static String raw(OrdersHost host, String request) {
        try (Socket socket = new Socket("localhost", host.port())) {
            socket.getOutputStream()
                    .write(
                            "%s HTTP/1.1\r\nHost: evil.example:%d\r\nOrigin: http://evil.example:%d\r\nConnection: close\r\n\r\n"
                                    .formatted(request, host.port(), host.port())
                                    .getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Files {

        @Bean
        ServletRegistrationBean<HttpServlet> files() {
            return new ServletRegistrationBean<>(
                    new HttpServlet() {
                        private static final long serialVersionUID = 1L;

                        @Override
                        protected void doGet(HttpServletRequest request, HttpServletResponse response) {
                            response.setContentType("text/plain");
                        }
                    },
                    "/files/*");
        }
    }

    @RestController
    static class Crossings {

        @GetMapping("/crossings/7/semaphores")
        String trafficLights() {
            return "red";
        }
    }
}
