package io.dbsemaphore.samples.backup.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.samples.backup.BackupApplication;
import io.dbsemaphore.samples.backup.Executables;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * The operator's page moves while the sample is at work. Leaves the picture of the README in {@code target/page}: for that
 * one, let the page be open for some minutes, {@code -Dlive.watch=PT4M}.
 */
class LivePageIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Duration WATCH = Duration.parse(System.getProperty("live.watch", "PT0S"));

    private ConfigurableApplicationContext sample;
    private ChromeDriver browser;

    @BeforeEach
    void start() {
        Path chromium = Executables.find("chromium", "chromium-browser", "google-chrome");
        Path driver = Executables.find("chromedriver");
        Assumptions.assumeTrue(
                chromium != null && driver != null,
                "No Chromium on this machine. Install the packages chromium and chromium-driver");
        sample = new SpringApplicationBuilder(BackupApplication.class)
                .profiles("live")
                .run("--server.port=0", "--spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID());
        browser = new ChromeDriver(
                new ChromeDriverService.Builder()
                        .usingDriverExecutable(driver.toFile())
                        .build(),
                new ChromeOptions()
                        .setBinary(chromium.toFile())
                        .addArguments(
                                "--headless=new",
                                "--no-sandbox",
                                "--disable-dev-shm-usage",
                                "--disable-gpu",
                                "--hide-scrollbars"));
    }

    @AfterEach
    void stop() {
        if (browser != null) {
            browser.quit();
        }
        if (sample != null) {
            sample.close();
        }
    }

    @Test
    void showsTwoInstancesAtWork() throws IOException {
        size(1200, 720);
        open("");
        awaitText("network", "partner-api", "thumbnails");
        String before = text();
        await().atMost(SOON).until(() -> !text().equals(before));
        await().pollDelay(WATCH).atMost(WATCH.plus(SOON)).until(() -> true);
        picture("overview");

        open("#/semaphore/backup");
        awaitText("node-1", "node-2");
        browser.executeScript("""
                const period = document.querySelector('select');
                period.value = [...period.options].find(option => option.text === '5 minutes').value;
                period.dispatchEvent(new Event('change'));""");
        awaitText("in the last 5 minutes");
        size(1200, bottomOf("details"));
        picture("semaphore");

        open("#/instances");
        awaitText("node-1", "node-2");
        picture("instances");
    }

    /** As after Ctrl-C. Jobs that run have some seconds of work left. */
    @Test
    void releasesAllPermitsWhenItIsStopped() {
        SemaphoreAdmin admin = sample.getBean(SemaphoreAdmin.class);
        await().atMost(SOON).until(() -> admin.find("backup").orElseThrow().held() > 0);
        sample.getBean(LiveInstances.class).stop();
        sample.getBean(LiveJobs.class).stop();

        await().atMost(SOON).untilAsserted(() -> assertThat(admin.list()).allMatch(semaphore -> semaphore.held() == 0));
    }

    private void open(String hash) {
        browser.get("about:blank"); // the same document would be kept for an address that differs after the # only
        browser.get("http://localhost:%s/actuator/semaphores%s"
                .formatted(sample.getEnvironment().getProperty("local.server.port"), hash));
    }

    private void size(int width, int height) {
        browser.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
    }

    private int bottomOf(String css) {
        return ((Number) browser.executeScript(
                        "return Math.ceil(document.querySelector(arguments[0]).getBoundingClientRect().bottom + scrollY)",
                        css))
                .intValue();
    }

    private void awaitText(String... expected) {
        await().atMost(SOON).untilAsserted(() -> assertThat(text()).contains(expected));
    }

    private String text() {
        return String.valueOf(browser.executeScript("return document.querySelector('#main')?.innerText"));
    }

    private void picture(String name) throws IOException {
        Path file = Path.of(System.getProperty("basedir", ""), "target", "page", name + ".png");
        Files.createDirectories(file.getParent());
        Files.write(file, browser.getScreenshotAs(OutputType.BYTES));
    }
}
