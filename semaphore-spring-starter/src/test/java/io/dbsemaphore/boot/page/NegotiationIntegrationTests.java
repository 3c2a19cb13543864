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
        withoutPage = OrdersHost.web(database, EXPOSED, "semaphore.endpoint.page-enabled=false");
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
            assertThat(answer.body()).as(accept).startsWith("{\"semaphores\":[{\"name\":\"orders\",\"capacity\":1,");
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
    void answersEachView(OrdersHost host) {
        for (String view : new String[] {
            "overview", "instances", "semaphore&name=orders&limit=10", "requests&name=orders&period=5m"
        }) {
            Http.Answer answer = Http.get(host.port(), "?view=" + view, "application/json");

            assertThat(answer.status()).as(view + answer.body()).isEqualTo(200);
            assertThat(answer.body()).as(view).startsWith("{\"asOf\":\"20");
        }
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("hosts")
    void saysWhatIsWrongWithAQuery(OrdersHost host) {
        assertProblem(host, "?view=nothing", 400, "There is no view 'nothing'");
        assertProblem(host, "?view=semaphore", 400, "The parameter 'name' is missing");
        assertProblem(host, "?view=semaphore&name=unknown", 404, "There is no semaphore named 'unknown'");
        assertProblem(host, "?view=requests&name=unknown", 404, "There is no semaphore named 'unknown'");
        assertProblem(host, "?view=semaphore&name=orders&limit=ten", 400, "'limit' is invalid: 'ten'");
        assertProblem(host, "?view=semaphore&name=orders&limit=0", 400, "between 1 and 10000: 0");
        assertProblem(host, "?view=requests&name=orders&until=noon", 400, "'until' is invalid: 'noon'");
        assertProblem(host, "?view=requests&name=orders&period=long", 400, "'period' is invalid: 'long'");
        assertProblem(host, "?view=requests&name=orders&period=-1m", 400, "between 0 and 366 days");
    }

    @Test
    void takesNamesThatAreNoPartOfAPath() {
        for (String name : new String[] {"a/b", "100%", "..", "a;b", "a\\b", "?&=#"}) {
            servlet.admin().create(name, 3);
            String query = URLEncoder.encode(name, StandardCharsets.UTF_8);

            assertThat(Http.get(servlet.port(), "?name=" + query, "application/json")
                            .body())
                    .as(name)
                    .contains("\"capacity\":3");
            assertThat(Http.get(servlet.port(), "?view=semaphore&name=" + query, "application/json")
                            .status())
                    .as(name)
                    .isEqualTo(200);
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
