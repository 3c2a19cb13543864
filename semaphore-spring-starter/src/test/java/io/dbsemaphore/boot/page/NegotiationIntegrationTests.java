package io.dbsemaphore.boot.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.boot.actuate.SemaphoresEndpoint;
import io.dbsemaphore.testing.TestDatabase;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.web.util.UriUtils;

/** Browsers get the page, programs get JSON, in servlet and in reactive applications. */
@Tag("slow") // several applications start
class NegotiationIntegrationTests {

    private static final String EXPOSED = "management.endpoints.web.exposure.include=semaphores";

    private static TestDatabase.Schema database;
    private static OrdersHost servlet;
    private static OrdersHost reactive;
    private static OrdersHost withoutPage;

    @BeforeAll
    static void start() {
        database = TestDatabase.create();
        servlet = OrdersHost.web(database, EXPOSED);
        reactive = OrdersHost.reactive(database, EXPOSED);
        withoutPage = OrdersHost.web(database, EXPOSED, "management.endpoint.semaphores.page-enabled=false");
    }

    @AfterAll
    static void stop() {
        withoutPage.close();
        reactive.close();
        servlet.close();
        database.close();
    }

    static Stream<OrdersHost> hosts() {
        return Stream.of(servlet, reactive);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("hosts")
    void givesThePageToBrowsers(OrdersHost host) {
        Http.Answer answer = Http.get(host.port(), "", Http.BROWSER);

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.contentType()).isEqualToIgnoringCase("text/html;charset=UTF-8");
        assertThat(answer.body())
                .startsWith("<!DOCTYPE html>")
                .endsWith("</html>\n")
                .doesNotContain("{{");
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("hosts")
    void givesJsonToPrograms(OrdersHost host) {
        for (String accept : new String[] {
            "",
            "*/*",
            "application/json",
            "application/json, text/plain, */*",
            "application/vnd.spring-boot.actuator.v3+json"
        }) {
            Http.Answer answer = Http.get(host.port(), "", accept);

            assertThat(answer.status()).as(accept).isEqualTo(200);
            assertThat(answer.contentType()).as(accept).contains("json");
            assertThat(answer.body())
                    .as(accept)
                    .startsWith("{\"asOf\":\"20")
                    .contains("\"semaphores\":[{\"name\":\"orders\",\"capacity\":1,")
                    .endsWith("\"truncated\":false}");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {Http.BROWSER, "*/*"})
    void givesJsonToAllWithoutThePage(String accept) {
        assertThat(withoutPage.bean(SemaphoresEndpoint.class).getClass()).isEqualTo(SemaphoresEndpoint.class);
        assertThat(Http.get(withoutPage.port(), "", accept).contentType()).contains("json");
    }

    /** There is one endpoint: with the page or without. */
    @Test
    void isNoFurtherBean() {
        assertThat(servlet.context().getBeanDefinitionCount())
                .isEqualTo(withoutPage.context().getBeanDefinitionCount());
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("hosts")
    void permitsItsOwnScriptAndStyleOnly(OrdersHost host) {
        String first = Http.get(host.port(), "", Http.BROWSER).body();
        String second = Http.get(host.port(), "", Http.BROWSER).body();

        assertThat(nonces(first)).hasSize(4).containsOnly(nonces(first)[0]);
        assertThat(nonces(second)[0]).isNotEqualTo(nonces(first)[0]).hasSizeGreaterThanOrEqualTo(22);
        assertThat(first)
                .contains("content=\"default-src 'none'; ")
                .doesNotContain("unsafe-inline")
                .doesNotContain("innerHTML")
                .doesNotContainPattern("(src|href)=\"(https?:)?//");
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("hosts")
    void answersEachPath(OrdersHost host) {
        for (String path : new String[] {
            "",
            "/instances",
            "/orders?limit=10",
            "/orders/requests?period=5m",
            "/orders/history?period=5m",
            "?name=orders&limit=10",
            "/requests?name=orders&period=5m",
            "/history?name=orders&period=5m"
        }) {
            Http.Answer answer = Http.get(host.port(), path, "application/json");

            assertThat(answer.status()).as(path + answer.body()).isEqualTo(200);
            assertThat(answer.body()).as(path).startsWith("{\"asOf\":\"20");
        }
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("hosts")
    void saysWhatIsWrongWithARequest(OrdersHost host) {
        assertProblem(host, "/unknown", 404, "There is no semaphore named 'unknown'");
        assertProblem(host, "/orders/unknown", 404, "There is no semaphore named 'orders/unknown'");
        assertProblem(host, "/unknown/requests", 404, "There is no semaphore named 'unknown'");
        assertProblem(host, "/unknown/history", 404, "There is no semaphore named 'unknown'");
        assertProblem(host, "?name=unknown", 404, "There is no semaphore named 'unknown'");
        assertProblem(host, "/requests?name=unknown", 404, "There is no semaphore named 'unknown'");
        assertProblem(host, "/orders?name=other", 400, "The path names the semaphore 'orders'");
        assertProblem(host, "/orders/requests?name=other", 400, "The path names the semaphore 'orders'");
        assertProblem(host, "/orders?limit=ten", 400, "'limit' is invalid: 'ten'");
        assertProblem(host, "/orders?limit=0", 400, "between 1 and 10000: 0");
        assertProblem(host, "/orders?after=ten", 400, "'after' is invalid: 'ten'");
        assertProblem(host, "/orders/requests?until=noon", 400, "'until' is invalid: 'noon'");
        assertProblem(host, "/orders/history?until=noon", 400, "'until' is invalid: 'noon'");
        assertProblem(host, "/orders/requests?period=long", 400, "'period' is invalid: 'long'");
        assertProblem(host, "/orders/requests?period=-1m", 400, "between 0 and 366 days");
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("hosts")
    void takesNamesWithColonsAndSlashesInThePath(OrdersHost host) {
        for (String name :
                new String[] {"tenant:1", "eu.west/nightly", "a/b/c", "Größe 7", "requests", "history", "instances/7"
                }) {
            host.admin().create(name, 3);
            String path = "/" + UriUtils.encodePath(name, StandardCharsets.UTF_8);

            assertThat(Http.get(host.port(), path, "application/json").body())
                    .as(name)
                    .contains("{\"name\":\"%s\",\"capacity\":3,".formatted(name));
            assertThat(Http.get(host.port(), path + "/requests", "application/json")
                            .body())
                    .as(name)
                    .contains("\"requests\":[]");
        }
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("hosts")
    void takesAnyNameAsAParameter(OrdersHost host) {
        for (String name : new String[] {
            "a/b",
            "100%",
            "..",
            "a;b",
            "a\\b",
            "?&=#",
            "/a",
            "a/",
            "a//b",
            "instances",
            "requests",
            "b/requests",
            "b/history"
        }) {
            host.admin().create(name, 3);
            String query = "?name=" + URLEncoder.encode(name, StandardCharsets.UTF_8);

            assertThat(Http.get(host.port(), query, "application/json").body())
                    .as(name)
                    .contains("\"capacity\":3");
            assertThat(Http.get(host.port(), "/requests" + query, "application/json")
                            .body())
                    .as(name)
                    .contains("\"requests\":[]");
            assertThat(Http.get(host.port(), "/history" + query, "application/json")
                            .body())
                    .as(name)
                    .contains("\"held\":0,\"capacity\":3");
        }
    }

    private static void assertProblem(OrdersHost host, String query, int status, String detail) {
        Http.Answer answer = Http.get(host.port(), query, "application/json");
        assertThat(answer.status()).as(query).isEqualTo(status);
        assertThat(answer.contentType()).as(query).startsWith("application/problem+json");
        assertThat(answer.body()).as(query).contains(detail);
    }

    private static String[] nonces(String html) {
        return Pattern.compile("nonce(?:=\"|-)([\\w-]+)")
                .matcher(html)
                .results()
                .map((MatchResult match) -> match.group(1))
                .toArray(String[]::new);
    }
}
