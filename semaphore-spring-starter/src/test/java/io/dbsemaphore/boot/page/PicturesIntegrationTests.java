package io.dbsemaphore.boot.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each view in light and dark, from a phone to a large screen: axe-core finds nothing, and nothing is cut off. */
@Slow
class PicturesIntegrationTests {

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
                "management.endpoint.semaphores.set-capacity-enabled=true",
                "management.endpoint.semaphores.force-release-enabled=true",
                "management.endpoint.semaphores.anonymous-write-enabled=true");
        Scene.prepare(host, database);
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

    @ParameterizedTest
    @CsvSource({"360, 800, dark", "1280, 900, light", "3840, 2160, light"})
    void showsTheOverview(int width, int height, String scheme) {
        look("overview", "", "#main li", width, height, scheme);
    }

    @ParameterizedTest
    @CsvSource({"360, 800, light", "390, 3000, dark", "1280, 1700, light", "1280, 1700, dark", "3840, 2160, light"})
    void showsOneSemaphore(int width, int height, String scheme) {
        look("semaphore", "#/semaphore/backup", ".use", width, height, scheme);
    }

    @ParameterizedTest
    @CsvSource({"360, 800, dark", "1280, 900, light"})
    void showsTheTimelineAsATable(int width, int height, String scheme) {
        browser.sized(width, height).coloured(scheme).open(url("#/semaphore/backup"));
        browser.find("section[aria-labelledby='timeline-title'] summary").click();
        browser.awaitText("details table", "nightly-job");
        check("timeline-table", width, scheme);
    }

    @ParameterizedTest
    @CsvSource({"360, 800, light", "1280, 900, dark"})
    void showsTheInstances(int width, int height, String scheme) {
        look("instances", "#/instances", "#main tbody tr", width, height, scheme);
    }

    @ParameterizedTest
    @CsvSource({"360, 800, light", "1280, 900, dark"})
    void asksBeforeItActs(int width, int height, String scheme) {
        browser.sized(width, height).coloured(scheme).open(url("#/semaphore/mail"));
        browser.click("#main", "Change capacity").find("dialog");
        check("dialog", width, scheme);
    }

    @ParameterizedTest
    @CsvSource({"360, 800, dark", "1280, 900, light"})
    void asksWhichHolderToReleaseByForce(int width, int height, String scheme) {
        browser.sized(width, height).coloured(scheme).open(url("#/semaphore/backup"));
        browser.find(".who summary").click();
        check("holder", width, scheme);
        browser.click("#main table", "Release").find("dialog");
        check("release", width, scheme);
        browser.click("dialog", "Cancel");
    }

    private static void look(String view, String hash, String css, int width, int height, String scheme) {
        browser.sized(width, height).coloured(scheme).open(url(hash));
        browser.find(css);
        check(view, width, scheme);
    }

    private static void check(String view, int width, String scheme) {
        browser.picture("%s-%d-%s".formatted(view, width, scheme));
        assertThat(browser.accessibilityViolations()).isEmpty();
        assertThat(((Number) browser.run("return document.documentElement.scrollWidth")).intValue())
                .as("width of the page")
                .isLessThanOrEqualTo(width);
    }

    private static String url(String hash) {
        return "http://localhost:%d/actuator/semaphores%s".formatted(host.port(), hash);
    }
}
