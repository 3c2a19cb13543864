package io.dbsemaphore.boot.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.testing.TestDatabase;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A thousand semaphores, and ten thousand holders of one of them. */
class ScaleIntegrationTests {

    /** Times the first rows of a list, without a change of the page. */
    private static final String STOPWATCH = """
            new MutationObserver((changes, observer) => {
              if (document.querySelector('.semaphores li, tbody tr')) {
                observer.disconnect();
                requestAnimationFrame(() => setTimeout(() => window.shownAfter = performance.now()));
              }
            }).observe(document, {childList: true, subtree: true});""";

    private static Browser browser;
    private static TestDatabase.Schema database;
    private static OrdersHost host;

    @BeforeAll
    static void start() {
        browser = Browser.start();
        database = TestDatabase.create();
        host = OrdersHost.web(
                database,
                "management.endpoints.web.exposure.include=semaphores",
                "semaphore.endpoint.force-release-enabled=true");
        fill();
        browser.driver().executeCdpCommand("Page.addScriptToEvaluateOnNewDocument", Map.of("source", STOPWATCH));
        browser.driver().executeCdpCommand("Performance.enable", Map.of());
        open("");
        browser.find(".semaphores li"); // the JVM is warm
    }

    private static void fill() {
        String now =
                LocalDateTime.now(ZoneOffset.UTC).toString().replace('T', ' ').substring(0, 23);
        insert(
                "semaphore (id, name, capacity, fence, created_at, updated_at)",
                1_000,
                i -> "(%d, 's%04d', 20000, 20000, '%s', '%s')".formatted(i + 1, i, now, now));
        insert(
                "permit_request (id, external_id, owner, state, content_digest, renewed_at, created_at, updated_at)",
                10_000,
                i -> "(%d, 'request-%d', 'owner-%d', 'ACQUIRED', 'x', '%s', '%s', '%s')"
                        .formatted(i + 1, i, i % 700, now, now, now));
        insert(
                "permit (id, semaphore_id, permit_request_id, count, exclusive, state, token)",
                10_000,
                i -> "(%d, 1, %d, 1, 0, 'ACQUIRED', %d)".formatted(i + 1, i + 1, i + 1));
    }

    private static void insert(String into, int rows, IntFunction<String> row) {
        for (int from = 0; from < rows; from += 500) {
            database.jdbc()
                    .update("insert into " + into + " values "
                            + IntStream.range(from, from + 500).mapToObj(row).collect(Collectors.joining(", ")));
        }
    }

    @AfterAll
    static void stop() {
        if (browser != null) {
            browser.close();
        }
        if (database != null) {
            host.close();
            database.close();
        }
    }

    /** The shortest of three times, since other work of the machine only adds to it. */
    @Test
    void isShownWithinASecond() {
        List<Double> overview = new ArrayList<>();
        List<Double> holders = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            open("");
            browser.awaitText(".summary", "1,001 semaphores · 10,000 permits held");
            overview.add(shownAfter());
            open("#/semaphore/s0000");
            browser.awaitText(".pager span", "1 to 100 of 10,000");
            holders.add(shownAfter());
        }

        assertThat(List.of(Collections.min(overview), Collections.min(holders)))
                .as("milliseconds until the first rows of the overview and of the holders")
                .allMatch(each -> each <= 1_000);
    }

    @Test
    void updatesWithinAHundredMillisecondsOfScript() {
        open("");
        double overview = scriptOfAnUpdate();
        open("#/semaphore/s0000");
        double holders = scriptOfAnUpdate();

        assertThat(List.of(overview, holders))
                .as("milliseconds of script for an update of the overview and of the holders")
                .allMatch(each -> each <= 100);
    }

    @Test
    void findsOneOfThemByItsName() {
        open("");
        browser.find(".semaphores li");
        browser.type("#search", "S0421").awaitText(".semaphores", "s0421");
        assertThat(browser.findAll(".semaphores li")).hasSize(1);

        open("#/semaphore/s0000");
        browser.find("tbody tr");
        browser.type("#holder-search", "request-9876").awaitText("tbody", "owner-76");
        Awaitility.await()
                .untilAsserted(() -> assertThat(browser.findAll("section:first-of-type tbody tr"))
                        .hasSize(1));
    }

    @Test
    void turnsPages() {
        open("");
        browser.awaitText(".pager", "1 to 100 of 1,001")
                .click(".pager", "Next")
                .awaitText(".pager", "101 to 200 of 1,001");

        open("#/semaphore/s0000");
        browser.awaitText(".pager", "1 to 100 of 10,000").awaitText("tbody", "request-99");
        browser.click(".pager", "Next").awaitText(".pager", "101 to 200").awaitText("tbody", "request-100");
        browser.click(".pager", "Next").awaitText(".pager", "201 to 300").awaitText("tbody", "request-299");
        browser.click(".pager", "Previous").awaitText(".pager", "101 to 200").awaitText("tbody", "request-199");
    }

    private static double shownAfter() {
        return ((Number) Awaitility.await().until(() -> browser.run("return window.shownAfter"), each -> each != null))
                .doubleValue();
    }

    /** The average over some updates. */
    private static double scriptOfAnUpdate() {
        browser.find("#freshness.live");
        browser.run("window.updates = 0; const fetched = window.fetch;"
                + " window.fetch = (...all) => { window.updates += all[0].includes('view=requests') ? 0 : 1;"
                + " return fetched(...all); };");
        double before = metric("ScriptDuration") + metric("LayoutDuration") + metric("RecalcStyleDuration");
        Awaitility.await()
                .atMost(Duration.ofMinutes(1))
                .until(() -> ((Number) browser.run("return window.updates")).intValue() >= 6);
        double after = metric("ScriptDuration") + metric("LayoutDuration") + metric("RecalcStyleDuration");
        return 1_000 * (after - before) / 5;
    }

    @SuppressWarnings("unchecked")
    private static double metric(String name) {
        Map<String, Object> metrics = browser.driver().executeCdpCommand("Performance.getMetrics", Map.of());
        return ((List<Map<String, Object>>) metrics.get("metrics"))
                .stream()
                        .filter(metric -> metric.get("name").equals(name))
                        .mapToDouble(metric -> ((Number) metric.get("value")).doubleValue())
                        .findFirst()
                        .orElseThrow();
    }

    private static void open(String hash) {
        browser.open("http://localhost:%d/actuator/semaphores%s".formatted(host.port(), hash));
    }
}
