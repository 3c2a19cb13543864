package io.dbsemaphore.boot.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A thousand semaphores, and ten thousand holders of one of them. */
@Slow
class ScaleIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(30);

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
                "management.endpoint.semaphores.force-release-enabled=true",
                "management.endpoint.semaphores.anonymous-write-enabled=true");
        fill();
        browser.driver().executeCdpCommand("Page.addScriptToEvaluateOnNewDocument", Map.of("source", STOPWATCH));
        browser.driver().executeCdpCommand("Performance.enable", Map.of("timeDomain", "threadTicks"));
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

    /** The shortest time within a minute, since other work of the machine only adds to it. */
    @Measured
    @Test
    void isShownWithinASecond() {
        long begun = System.nanoTime();
        double overview = Double.MAX_VALUE;
        double holders = Double.MAX_VALUE;
        do {
            open("");
            browser.awaitText(".summary", "1,001 semaphores · 10,000 permits held");
            overview = Math.min(overview, shownAfter());
            open("#/semaphore/s0000");
            browser.awaitText(".pager span", "1 to 100 of 10,000");
            holders = Math.min(holders, shownAfter());
        } while (Math.max(overview, holders) > 1_000 && System.nanoTime() - begun < TimeUnit.MINUTES.toNanos(1));

        List<Double> shown = List.of(overview, holders);
        Measurement.check(() -> assertThat(shown)
                .as("milliseconds until the first rows of the overview and of the holders")
                .allMatch(each -> each <= 1_000));
    }

    @Slow
    @Measured
    @Test
    void updatesWithinAHundredMillisecondsOfScript() {
        open("");
        double overview = scriptOfAnUpdate(Duration.ofMillis(500)); // each update does the same
        open("#/semaphore/s0000");
        double holders = scriptOfAnUpdate(null); // the past is read less often than the rest

        Measurement.check(() -> assertThat(List.of(overview, holders))
                .as("milliseconds of script for an update of the overview and of the holders")
                .allMatch(each -> each <= 100));
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
                .atMost(SOON)
                .untilAsserted(() -> assertThat(browser.findAll("section[aria-labelledby='holders-title'] tbody tr"))
                        .hasSize(1));
    }

    @Test
    void turnsPages() {
        open("");
        browser.awaitText(".pager", "1 to 100 of 1,001")
                .click(".pager", "Next")
                .awaitText(".pager", "101 to 200 of 1,001");

        open("#/semaphore/s0000");
        browser.awaitText(".pager", "1 to 100 of 10,000").awaitText("tbody", "owner-99");
        browser.click(".pager", "Next").awaitText(".pager", "101 to 200").awaitText("tbody", "owner-100");
        browser.click(".pager", "Next").awaitText(".pager", "201 to 300").awaitText("tbody", "owner-299");
        browser.click(".pager", "Previous").awaitText(".pager", "101 to 200").awaitText("tbody", "owner-199");
    }

    /** A periodic update may be answered after the update of a click that came later. */
    @Test
    void doesNotShowAnAnswerThatALaterOneHasOvertaken() {
        open("#/semaphore/s0000");
        browser.awaitText(".pager", "1 to 100 of 10,000").awaitText("tbody", "owner-99");
        browser.run("const fetched = window.fetch;"
                + " window.fetch = (...all) => {"
                + "   const response = fetched(...all);"
                + "   return window.answer !== undefined || !all[0].includes('/semaphores?name=')"
                + "     ? response : new Promise(answer => window.answer = () => answer(response));"
                + " };");
        Awaitility.await("an update")
                .atMost(SOON)
                .until(() -> browser.run("return window.answer !== undefined") == Boolean.TRUE);
        browser.click(".pager", "Next").awaitText(".pager", "101 to 200").awaitText("tbody", "owner-199");
        browser.run("document.querySelector('#pause').click()");

        browser.run("window.answer(); return new Promise(done => setTimeout(done, 500))");

        browser.click(".pager", "Next").awaitText(".pager", "201 to 300").awaitText("tbody", "owner-299");
    }

    private static double shownAfter() {
        return ((Number) Awaitility.await()
                        .atMost(SOON)
                        .until(() -> browser.run("return window.shownAfter"), each -> each != null))
                .doubleValue();
    }

    /**
     * The average over some updates, in time of the page's thread: other work of the machine does not count.
     *
     * @param pause from an answer to the next update; null for that of the page
     */
    private static double scriptOfAnUpdate(@Nullable Duration pause) {
        browser.find("#freshness.live");
        browser.run(
                "const pause = arguments[0]; window.updates = 0; const fetched = window.fetch;"
                        + " window.fetch = (...all) => { window.updates += all[0].includes('/semaphores?') ? 1 : 0;"
                        + " const answer = fetched(...all);"
                        + " if (pause !== null) { answer.finally(() => setTimeout("
                        + " () => document.dispatchEvent(new Event('visibilitychange')), pause)); }"
                        + " return answer; };",
                pause == null ? null : pause.toMillis());
        double before = metric("ScriptDuration") + metric("LayoutDuration") + metric("RecalcStyleDuration");
        int updates = Awaitility.await()
                .atMost(Duration.ofMinutes(3))
                .until(() -> ((Number) browser.run("return window.updates")).intValue(), each -> each >= 6);
        double after = metric("ScriptDuration") + metric("LayoutDuration") + metric("RecalcStyleDuration");
        return 1_000 * (after - before) / (updates - 1);
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
