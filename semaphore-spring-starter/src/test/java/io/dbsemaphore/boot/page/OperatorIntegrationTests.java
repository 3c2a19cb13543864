package io.dbsemaphore.boot.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What an operator does with the page, in a real browser, while two instances are at work. */
@Slow
class OperatorIntegrationTests {

    private static final String EXPOSED = "management.endpoints.web.exposure.include=semaphores";

    private static Browser browser;
    private static TestDatabase.Schema database;
    private static OrdersHost host;
    private static OrdersHost other;

    @BeforeAll
    static void start() {
        browser = Browser.start();
        database = TestDatabase.create();
        host = OrdersHost.web(
                database,
                EXPOSED,
                "management.endpoint.semaphores.set-capacity-enabled=true",
                "management.endpoint.semaphores.force-release-enabled=true",
                "management.endpoint.semaphores.anonymous-write-enabled=true");
        other = OrdersHost.on(database, "semaphore.owner=other@host");
    }

    @AfterAll
    static void stop() {
        if (browser != null) {
            browser.close();
        }
        if (database != null) {
            other.close();
            host.close();
            database.close();
        }
    }

    @BeforeEach
    void forgetErrors() {
        browser.errors();
    }

    @Test
    void findsTheHolderOfAFullSemaphoreAndReleasesItByForce() {
        host.admin().create("backup", 1);
        PermitGrant stuck = other.semaphores()
                .acquire(AcquireRequest.of("backup").withOwner("nightly-job").withTtl(Duration.ofHours(1)));

        open("");
        browser.awaitText("#main", "backup");
        browser.find("a[href='#/semaphore/backup']").click();
        browser.awaitText(".state", "full").awaitText("#main", "nightly-job");
        browser.find(".who summary").click();
        browser.awaitText("#main", stuck.externalId());
        browser.click("#main table", "Release").awaitText("dialog", "nightly-job loses 1 permit of backup");
        browser.type("#reason", "its machine is gone").click("dialog", "Release by force");

        browser.awaitText("#notice", "The permits of nightly-job were released by force")
                .awaitText(".state", "1 available")
                .awaitText("#main", "its machine is gone");
        assertThat(host.admin().holders("backup")).isEmpty();
        assertThat(browser.errors()).isEmpty();
    }

    /** It is sent in the address, which servers take with all headers only up to some length. */
    @Test
    void isToldToShortenAReasonThatNoServerWouldTake() {
        host.admin().create("long", 1);
        other.semaphores().acquire(AcquireRequest.of("long").withTtl(Duration.ofHours(1)));

        open("#/semaphore/long");
        browser.click("#main table", "Release").awaitText("dialog", "loses 1 permit of long");
        browser.type("#reason", "障".repeat(900)).click("dialog", "Release by force");
        browser.awaitText("dialog .failure", "The reason is too long")
                .awaitText("dialog .failure", "Nothing was released");
        assertThat(host.admin().holders("long")).hasSize(1);

        String shortened = "障"
                .repeat(Integer.parseInt(
                        browser.text("dialog .failure").replaceFirst("(?s).* about ([0-9]+) characters.*", "$1")));
        browser.type("#reason", shortened).click("dialog", "Release by force");
        browser.awaitText("#notice", "were released by force");
        assertThat(host.admin().capacityHistory("long"))
                .extracting(CapacityChange::reason)
                .containsExactly(shortened);
        assertThat(shortened).hasSizeGreaterThan(400);
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void findsWhoWaits() {
        host.admin().create("report", 1);
        PermitGrant held = host.semaphores().acquire(AcquireRequest.of("report").withShare("beta"));
        CompletableFuture<PermitGrant> waiting = other.semaphores()
                .acquireAsync(AcquireRequest.of("report")
                        .withShare("acme/ada")
                        .withHeadStart(Duration.ofMinutes(3))
                        .withWaitTime(Duration.ofMinutes(2)));

        open("");
        browser.awaitText("#main", "1 of 1 held · 1 waiting");
        open("#/semaphore/report");
        browser.awaitText("#main", "Who waits")
                .awaitText("section[aria-labelledby='waiting-title'] table", "other@host");
        browser.awaitText("section[aria-labelledby='waiting-title'] table + table", "Turn")
                .awaitText("section[aria-labelledby='waiting-title'] table + table", "other@host")
                .awaitText("section[aria-labelledby='waiting-title'] td[data-label='Share']", "acme/ada")
                .awaitText("section[aria-labelledby='waiting-title'] td[data-label='Head start']", "3 min");
        browser.awaitText(".rest + table tbody tr:first-child td[data-label='Permits']", "1")
                .awaitText(".rest + table tbody tr:first-child", "beta")
                .awaitText(".rest + table tbody tr:last-child", "acme/ada")
                .awaitText(".rest + table tbody tr:last-child td[data-label='Waiting']", "1")
                .awaitText(".rest + table tbody tr:last-child td[data-label='Weight']", "1, tenant 1");
        held.release();
        waiting.join().release();

        browser.awaitText("section[aria-labelledby='waiting-title']", "Nobody.");
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void raisesACapacityAndSeesTheBarChange() {
        host.admin().create("mail", 1);
        PermitGrant grant = other.semaphores().acquire(AcquireRequest.of("mail").withTtl(Duration.ofHours(1)));

        open("#/semaphore/mail");
        browser.awaitText(".state", "full");
        browser.click("#main", "Change capacity")
                .type("#capacity", "4")
                .awaitText("dialog", "At most 4 permits of mail can be held at once instead of 1")
                .type("#reason", "a second server")
                .click("dialog", "Change capacity");

        browser.awaitText(".state", "3 available").awaitText(".held-words", "1 of 4 held");
        Number held = (Number) browser.run("const bar = document.querySelector('.bar');"
                + " return 100 * bar.querySelector('.held').offsetWidth / bar.offsetWidth");
        assertThat(held.doubleValue()).isCloseTo(25, within(1.0));
        assertThat(host.admin().find("mail").orElseThrow().capacity()).isEqualTo(4);
        grant.release();
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void showsEachNameAsText() {
        String html = "<img src=x onerror=\"document.title='broken'\">";
        String arabic = "نسخ احتياطي";
        host.admin().create(html, 1);
        host.admin().create(arabic, 1);
        PermitGrant grant = other.semaphores()
                .acquire(AcquireRequest.of(html).withOwner(html).withTtl(Duration.ofHours(1)));
        CompletableFuture<PermitGrant> waiting = other.semaphores()
                .acquireAsync(AcquireRequest.of(html).withShare(html).withWaitTime(Duration.ofMinutes(2)));

        open("");
        browser.awaitText("#main", html).awaitText("#main", arabic);
        browser.find("a[href='%s']".formatted(addressOf(arabic))).click();
        browser.awaitText("h1", arabic);
        open(addressOf(html));
        browser.awaitText("h1", html)
                .awaitText("#main table", html)
                .awaitText("section[aria-labelledby='waiting-title'] td[data-label='Share']", html);

        assertThat(browser.findAll("img")).isEmpty();
        assertThat(browser.driver().getTitle()).isEqualTo(html + " · Semaphores");
        grant.release();
        waiting.join().release();
        assertThat(browser.errors()).isEmpty();
    }

    private static String addressOf(String name) {
        return "#/semaphore/" + URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static void open(String hash) {
        browser.open("http://localhost:%d/actuator/semaphores%s".formatted(host.port(), hash));
    }
}
