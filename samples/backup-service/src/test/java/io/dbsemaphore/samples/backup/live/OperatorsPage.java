package io.dbsemaphore.samples.backup.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.samples.backup.Executables;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.openqa.selenium.By;
import org.openqa.selenium.NoSuchElementException;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;

/** The operator's page in a real browser, as Debian's packages {@code chromium} and {@code chromium-driver} have it. */
final class OperatorsPage implements AutoCloseable {

    static final Duration SOON = Duration.ofSeconds(30);

    private final ChromeDriver browser;

    private OperatorsPage(ChromeDriver browser) {
        this.browser = browser;
    }

    /** Starts a browser; skips the test if there is none. */
    static OperatorsPage start() {
        Path chromium = Executables.find("chromium", "chromium-browser", "google-chrome");
        Path driver = Executables.find("chromedriver");
        Assumptions.assumeTrue(
                chromium != null && driver != null,
                "No Chromium on this machine. Install the packages chromium and chromium-driver");
        ChromeDriver browser = new ChromeDriver(
                new ChromeDriverService.Builder()
                        .usingDriverExecutable(driver.toFile())
                        .withTimeout(Duration.ofMinutes(2))
                        .build(),
                new ChromeOptions()
                        .setBinary(chromium.toFile())
                        .addArguments(
                                "--headless=new",
                                "--no-sandbox",
                                "--disable-dev-shm-usage",
                                "--disable-gpu",
                                "--hide-scrollbars"));
        browser.manage().timeouts().scriptTimeout(Duration.ofMinutes(3));
        return new OperatorsPage(browser);
    }

    void open(String url) {
        browser.get("about:blank"); // the same document would be kept for an address that differs after the # only
        browser.get(url);
    }

    void size(int width, int height) {
        browser.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
    }

    int bottomOf(String css) {
        return ((Number) run(
                        "return Math.ceil(document.querySelector(arguments[0]).getBoundingClientRect().bottom + scrollY)",
                        css))
                .intValue();
    }

    Object run(String script, Object... arguments) {
        return browser.executeScript(script, arguments);
    }

    /** What it shows of the semaphores. */
    String content() {
        return String.valueOf(run("return document.querySelector('#main')?.innerText"));
    }

    private String text() {
        return String.valueOf(run("return document.body.innerText"));
    }

    void awaitText(String... expected) {
        await().atMost(SOON).untilAsserted(() -> assertThat(text()).contains(expected));
    }

    /** Clicks what this XPath finds, as soon as it is there. */
    void click(String xpath) {
        await(xpath)
                .atMost(SOON)
                .ignoreExceptionsMatching(failure ->
                        failure instanceof NoSuchElementException || failure instanceof StaleElementReferenceException)
                .until(() -> {
                    browser.findElement(By.xpath(xpath)).click();
                    return true;
                });
    }

    void type(String css, String text) {
        browser.findElement(By.cssSelector(css)).clear();
        browser.findElement(By.cssSelector(css)).sendKeys(text);
    }

    /** Keeps a picture of the page below {@code target/page}. */
    void picture(String name) throws IOException {
        Path file = Path.of(System.getProperty("basedir", ""), "target", "page", name + ".png");
        Files.createDirectories(file.getParent());
        Files.write(file, browser.getScreenshotAs(OutputType.BYTES));
    }

    @Override
    public void close() {
        browser.quit();
    }
}
