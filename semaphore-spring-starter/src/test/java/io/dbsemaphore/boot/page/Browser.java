package io.dbsemaphore.boot.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.openqa.selenium.By;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.NoSuchElementException;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.WindowType;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/**
 * A real browser: Chromium with its driver, as Debian's packages {@code chromium} and {@code chromium-driver} have it. The
 * tests are skipped where it is not installed.
 */
final class Browser implements AutoCloseable {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Path RECORD = Path.of(System.getProperty("basedir", ""), "target", "test-browser.txt");

    /** That of this JVM, which starts once: each class has a window of its own. */
    private static @Nullable ChromeDriver shared;

    private final ChromeDriver driver;

    private Browser(ChromeDriver driver) {
        this.driver = driver;
    }

    /** Opens a window, without the cookies of others; skips the test if there is no browser. */
    static synchronized Browser start() {
        ChromeDriver driver = shared == null ? shared = newDriver() : shared;
        return new Browser(driver).sized(1280, 900);
    }

    private static ChromeDriver newDriver() {
        Path chromium = executable("chromium", "chromium-browser", "google-chrome");
        Path chromedriver = executable("chromedriver");
        Assumptions.assumeTrue(
                chromium != null && chromedriver != null,
                "No Chromium on this machine: the operator's page is not tested in a browser. Install the packages chromium and chromium-driver");
        ChromeOptions options = new ChromeOptions();
        options.setBinary(chromium.toFile());
        options.addArguments(
                "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--lang=en-GB");
        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, java.util.logging.Level.ALL);
        options.setCapability("goog:loggingPrefs", logs);
        ChromeDriver driver = new ChromeDriver(
                new ChromeDriverService.Builder()
                        .usingDriverExecutable(chromedriver.toFile())
                        .withTimeout(Duration.ofMinutes(2))
                        .build(),
                options);
        driver.manage().timeouts().scriptTimeout(Duration.ofMinutes(3));
        record(driver.getCapabilities().getBrowserName() + " "
                + driver.getCapabilities().getBrowserVersion());
        Runtime.getRuntime().addShutdownHook(new Thread(driver::quit, "end of the browser"));
        return driver;
    }

    private static Path executable(String... names) {
        return Stream.of(System.getenv("PATH").split(":", -1))
                .flatMap(directory -> Stream.of(names).map(name -> Path.of(directory, name)))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
    }

    private static void record(String version) {
        try {
            Files.createDirectories(RECORD.getParent());
            Files.writeString(
                    RECORD,
                    "The operator's page is tested in " + version + System.lineSeparator(),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    ChromeDriver driver() {
        return driver;
    }

    /** Sets the size of what the page sees, also below the smallest window. */
    Browser sized(int width, int height) {
        driver.manage().window().setSize(new Dimension(Math.max(width, 600), height));
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
        return this;
    }

    Browser coloured(String scheme) {
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
        return this;
    }

    Browser open(String url) {
        driver.get("about:blank"); // the same document would be kept for an address that differs after the # only
        driver.get(url);
        return this;
    }

    /** The first element of this CSS selector, once it is there and visible. */
    WebElement find(String css) {
        return Awaitility.await("element " + css)
                .atMost(SOON)
                .ignoreExceptionsMatching(Browser::isNotThereYet)
                .until(() -> driver.findElement(By.cssSelector(css)), WebElement::isDisplayed);
    }

    private static boolean isNotThereYet(Throwable failure) {
        return failure instanceof NoSuchElementException || failure instanceof StaleElementReferenceException;
    }

    List<WebElement> findAll(String css) {
        return driver.findElements(By.cssSelector(css));
    }

    /** The visible text of an element. */
    String text(String css) {
        return String.valueOf(driver.executeScript(
                "const element = document.querySelector(arguments[0]); return element?.checkVisibility() ? element.innerText : ''",
                css));
    }

    /** Waits until the visible text of an element contains another one. */
    Browser awaitText(String css, String expected) {
        Awaitility.await()
                .atMost(SOON)
                .untilAsserted(() -> assertThat(text(css)).as(css).contains(expected));
        return this;
    }

    Browser awaitNoText(String css, String unexpected) {
        Awaitility.await()
                .atMost(SOON)
                .untilAsserted(() -> assertThat(text(css)).as(css).doesNotContain(unexpected));
        return this;
    }

    /** Clicks the first button with this text within an element. */
    Browser click(String css, String text) {
        Awaitility.await("button " + text)
                .atMost(SOON)
                .ignoreExceptionsMatching(Browser::isNotThereYet)
                .until(() -> findAll(css + " button").stream()
                        .filter(button ->
                                button.isDisplayed() && button.getText().equals(text))
                        .findFirst()
                        .map(button -> {
                            button.click();
                            return true;
                        })
                        .orElse(false));
        return this;
    }

    Browser type(String css, String text) {
        WebElement field = find(css);
        field.clear();
        field.sendKeys(text);
        return this;
    }

    Object run(String script, Object... arguments) {
        return driver.executeScript(script, arguments);
    }

    /** What the page logged as an error, including violations of its Content Security Policy. */
    List<String> errors() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= java.util.logging.Level.SEVERE.intValue())
                .map(entry -> entry.getMessage())
                .toList();
    }

    /** The violations that axe-core finds in the page as it is now. */
    List<String> accessibilityViolations() {
        driver.executeScript(axe());
        @SuppressWarnings("unchecked")
        List<String> violations = (List<String>) driver.executeAsyncScript("""
                const done = arguments[arguments.length - 1];
                axe.run().then(result => done(result.violations.flatMap(violation =>
                    violation.nodes.map(node => `${violation.id}: ${node.html} ${node.failureSummary}`))),
                    failure => done([String(failure)]));""");
        return violations;
    }

    private static String axe() {
        try (InputStream script =
                Browser.class.getResourceAsStream("/META-INF/resources/webjars/axe-core/4.6.3/axe.min.js")) {
            return new String(script.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Keeps a picture of the page below {@code target/page}, to be looked at. */
    Browser picture(String name) {
        try {
            Path file = Path.of(System.getProperty("basedir", ""), "target", "page", name + ".png");
            Files.createDirectories(file.getParent());
            Files.write(file, driver.getScreenshotAs(OutputType.BYTES));
            return this;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Closes the window, which takes its size, its scripts and its requests with it. */
    @Override
    public void close() {
        driver.executeCdpCommand("Network.clearBrowserCookies", Map.of());
        String window = driver.getWindowHandle();
        String next = driver.switchTo().newWindow(WindowType.TAB).getWindowHandle();
        driver.switchTo().window(window).close();
        driver.switchTo().window(next);
    }
}
