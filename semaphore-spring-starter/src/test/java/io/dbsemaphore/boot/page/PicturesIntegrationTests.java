package io.dbsemaphore.boot.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.testing.TestDatabase;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each view in light and dark, from a phone to a large screen: axe-core finds nothing, and nothing is cut off. */
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
                "semaphore.endpoint.set-capacity-enabled=true",
                "semaphore.endpoint.force-release-enabled=true");
        fill();
    }

    private static void fill() {
        host.admin().create("backup", 3);
        hold("backup", 1, "backup-service@app-1:4711");
        hold("backup", 1, "backup-service@app-2:4712");
        hold("backup", 1, "nightly-job 2026-11-22");
        host.admin().create("network", 40);
        hold("network", 17, "replication");
        host.admin().create("mail", 8);
        hold("mail", 6, "newsletter");
        host.admin().setCapacity("mail", 4, "ada", "The provider allows four connections now");
        host.admin().create("report", 2);
        host.admin().setCapacity("report", 0, "grace", "Month-end closing");
        host.admin().create("partner-api", 500);
        hold("partner-api", 123, "checkout@app-1:4711");
        host.admin().create("نسخ احتياطي", 5);
        hold("نسخ احتياطي", 2, "مهمة");
        host.admin()
                .create(
                        "tenant/with a rather long name that somebody generated: 3f0c2b4e-6f1c-4bfa-bb50-0d4dc8c5a1ce",
                        1);
    }

    private static void hold(String name, int permits, String owner) {
        host.semaphores()
                .acquire(AcquireRequest.of(name)
                        .withPermits(name, permits)
                        .withOwner(owner)
                        .withTtl(Duration.ofHours(2)));
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
    @CsvSource({"360, 800, light", "360, 800, dark", "1280, 900, light", "1280, 900, dark", "3840, 2160, light"})
    void showsTheOverview(int width, int height, String scheme) {
        look("overview", "", "#main li", width, height, scheme);
    }

    @ParameterizedTest
    @CsvSource({"360, 800, light", "360, 800, dark", "1280, 900, light", "1280, 900, dark", "3840, 2160, light"})
    void showsOneSemaphore(int width, int height, String scheme) {
        look("semaphore", "#/semaphore/mail", "#main tbody tr", width, height, scheme);
    }

    @ParameterizedTest
    @CsvSource({"360, 800, light", "1280, 900, dark"})
    void asksBeforeItActs(int width, int height, String scheme) {
        browser.sized(width, height).coloured(scheme).open(url("#/semaphore/mail"));
        browser.click("#main", "Change capacity").find("dialog");
        check("dialog", width, scheme);
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
