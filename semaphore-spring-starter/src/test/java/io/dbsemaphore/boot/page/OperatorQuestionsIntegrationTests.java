package io.dbsemaphore.boot.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.admin.SemaphoreMaintenance;
import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What an operator asks of the page in trouble: which one is it, what was there before, is its process alive, who took it. */
@Slow
class OperatorQuestionsIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final String EXPOSED = "management.endpoints.web.exposure.include=semaphores";
    private static final String[] WRITABLE = {
        EXPOSED,
        "management.endpoint.semaphores.set-capacity-enabled=true",
        "management.endpoint.semaphores.force-release-enabled=true"
    };

    private static Browser browser;
    private static TestDatabase.Schema database;
    private static OrdersHost host;

    @BeforeAll
    static void start() {
        browser = Browser.start();
        database = TestDatabase.create();
        host = OrdersHost.web(
                database,
                WRITABLE[0],
                WRITABLE[1],
                WRITABLE[2],
                "management.endpoint.semaphores.anonymous-write-enabled=true",
                "semaphore.maintenance.enabled=false");
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

    @BeforeEach
    void forgetErrors() {
        browser.errors();
    }

    @Test
    void resumesWithTheCapacityFromBefore() {
        host.admin().create("batch", 20);
        host.admin().setCapacity("batch", 0, "grace", "month-end closing");

        open("#/semaphore/batch");
        browser.click("#main", "Resume")
                .awaitText("dialog", "Resume batch")
                .awaitText("dialog", "Permits of batch are granted again, at most 20 at once")
                .awaitNoText("dialog", "Nothing will change");
        browser.type("#reason", "closed").click("dialog", "Resume");

        browser.awaitText("#notice", "The capacity of batch is 20 now").awaitText(".state", "20 available");
        assertThat(host.admin().find("batch").orElseThrow().capacity()).isEqualTo(20);
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void isToldInTheDialogWhenSomebodyElseHasPausedIt() {
        host.admin().create("shifting", 5);

        open("#/semaphore/shifting");
        browser.click("#main", "Change capacity")
                .type("#capacity", "7")
                .awaitText("dialog", "At most 7 permits of shifting can be held at once instead of 5");
        host.admin().setCapacity("shifting", 0, "grace", "month-end closing");

        browser.awaitText("dialog", "Permits of shifting are granted again, at most 7 at once");
        assertThat(browser.find("#consequence").getDomAttribute("role")).isEqualTo("status");
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void findsAHolderByItsLabel() {
        host.admin().create("searched", 3);
        host.semaphores().acquire(AcquireRequest.of("searched").withLabel("Exports.monthly"));
        host.semaphores().acquire(AcquireRequest.of("searched").withLabel("Imports.daily"));

        open("#/semaphore/searched");
        browser.awaitText("label[for='holder-search']", "label")
                .awaitText("tbody", "Imports.daily")
                .type("#holder-search", "monthly")
                .awaitNoText("tbody", "Imports.daily")
                .awaitText("tbody", "Exports.monthly");
        assertThat(browser.errors()).isEmpty();
    }

    /** Within one kind of trouble, and among the others: by the age of the oldest holder, then by name. */
    @Test
    void seesTheSemaphoresWithTroubleFirst() {
        List<String> names =
                List.of("o-late", "o-awaited", "o-paused", "o-over", "o-old", "o-2", "o-10", "o-idle-2", "o-idle-10");
        names.forEach(name -> host.admin().create(name, 3));
        host.admin().setCapacity("o-paused", 0, "grace", "month-end closing");
        hold("o-over", "node-1", 3);
        host.admin().setCapacity("o-over", 1, "grace", "fewer disks");
        acquiredAgo(hold("o-old", "node-1", 1), Duration.ofHours(2));
        hold("o-10", "node-1", 1);
        hold("o-2", "node-1", 1);
        hold("o-late", "node-1", 3);
        waitingFor("o-late", Duration.ofSeconds(90));
        hold("o-awaited", "node-1", 3);
        waitingFor("o-awaited", Duration.ofSeconds(4));

        open("");
        browser.find(".semaphores li");
        browser.type("#search", "o-");
        Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(shownNames()).isEqualTo(names));

        assertThat(browser.text(rowOf("o-late")))
                .containsPattern("longest wait \\d+ min")
                .contains("3 of 3 held · 2 waiting");
        assertThat(stateOf("o-late")).isEqualTo("late full");
        assertThat(stateOf("o-awaited")).isEqualTo("waiting full");
        assertThat(stateOf("o-paused")).isEqualTo("paused paused, was 3");
        assertThat(stateOf("o-over")).isEqualTo("over 2 over capacity");
        assertThat(browser.text(rowOf("o-paused"))).contains("0 held").doesNotContain("0 of 0");
        assertThat(browser.text(rowOf("o-old"))).contains("oldest 2 h").doesNotContain("available");
        assertThat(browser.text(".headline"))
                .containsPattern("Waiting now\\s+4\\s+for 2 semaphores")
                .containsPattern("Longest wait\\s+\\d+ min( \\d+ s)?\\s+o-late")
                .containsPattern("Granted per minute\\s+\\d+");
        browser.run(
                "const order = document.querySelector('#order'); order.value = 'name'; order.dispatchEvent(new Event('change'))");
        assertThat(shownNames())
                .containsExactly(
                        "o-2", "o-10", "o-awaited", "o-idle-2", "o-idle-10", "o-late", "o-old", "o-over", "o-paused");
        assertThat(browser.errors()).isEmpty();
        database.jdbc().update("delete from semaphore_waiter");
    }

    @SuppressWarnings("unchecked")
    private static List<String> shownNames() {
        return (List<String>)
                browser.run("return [...document.querySelectorAll('.semaphores .name')].map(name => name.innerText)");
    }

    private static String rowOf(String name) {
        return ".semaphores li:has(a[href='#/semaphore/%s'])".formatted(name);
    }

    /** The kind by which a state is coloured, and its words. */
    private static String stateOf(String name) {
        String css = rowOf(name) + " .state";
        return browser.find(css).getDomAttribute("class").replace("state ", "") + " " + browser.text(css);
    }

    /** Two callers of another instance, which it has just confirmed, and will not again. */
    private static void waitingFor(String name, Duration since) {
        database.jdbc()
                .update(
                        "insert into semaphore_waiter (semaphore_id, instance, owner, since, waiting, first_waiters, expires_at)"
                                + " select id, 4713, 'node-2', ?, 2, '-', ? from semaphore where name = ?",
                        now().minus(since),
                        now().plusMinutes(10),
                        name);
    }

    @Test
    void seesSinceWhenItIsFullAndWhatWasHeldBeforeThePageWasOpened() {
        host.admin().create("past", 2);
        PermitGrant first = hold("past", "node-1");
        PermitGrant ended = hold("past", "node-1");
        ended.release();
        PermitGrant second = hold("past", "node-2");
        acquiredAgo(first, Duration.ofMinutes(40));
        acquiredAgo(ended, Duration.ofMinutes(30));
        database.jdbc()
                .update(
                        "update permit_request set updated_at = ? where external_id = ?",
                        now().minusMinutes(20),
                        ended.externalId());
        acquiredAgo(second, Duration.ofMinutes(10));

        open("#/semaphore/past");
        browser.awaitText(
                        "section[aria-labelledby='chart-title']",
                        "At most 2 permits were held at once in the last hour")
                .awaitText(".headline", "10 min")
                .awaitText(".headline", "40 min");

        // it begins a thirtieth before the first acquire; of 40 units, 39 are no permit and 2 are both
        assertThat(heightAt(".line", 1)).isEqualTo(39.0);
        assertThat(heightAt(".line", 15)).isEqualTo(20.5);
        assertThat(heightAt(".line", 40)).isEqualTo(2.0);
        assertThat(heightAt(".line", 65)).isEqualTo(20.5);
        assertThat(heightAt(".line", 90)).isEqualTo(2.0);
        assertThat(((Number) browser.run("return Number(document.querySelector('rect.full').getAttribute('x'))"))
                        .doubleValue())
                .isBetween(74.0, 78.0);
        assertThat(browser.errors()).isEmpty();
    }

    /** The curve counts more requests than there are bars. */
    @Test
    void seesWhatIsStillHeldBesideManyShortRequests() {
        host.admin().create("busy", 5);
        PermitGrant held = hold("busy", "long-job");
        acquiredAgo(held, Duration.ofMinutes(12));
        Long semaphore = database.jdbc().queryForObject("select id from semaphore where name = 'busy'", Long.class);
        LocalDateTime now = now();
        for (int i = 1; i <= 501; i++) {
            LocalDateTime at = now.minusSeconds(650 - i);
            database.jdbc()
                    .update(
                            "insert into permit_request (id, external_id, owner, state, content_digest, renewed_at, created_at, updated_at)"
                                    + " values (?, ?, 'short', 'RELEASED', 'x', ?, ?, ?)",
                            i,
                            "short-" + i,
                            at,
                            at,
                            at.plusSeconds(1));
            database.jdbc()
                    .update(
                            "insert into permit (id, semaphore_id, permit_request_id, count, exclusive, state, token)"
                                    + " values (?, ?, ?, 1, 0, 'RELEASED', ?)",
                            i,
                            semaphore,
                            i,
                            held.fencingToken() + i);
        }

        open("#/semaphore/busy");
        browser.awaitText(
                "section[aria-labelledby='timeline-title'] .summary",
                "The latest 499 released requests in the last hour, 1 still held");

        assertThat(heightAt(".line", 8)).as("one of 5 permits").isEqualTo(31.6);
        assertThat(heightAt(".line", 16)).as("two of them").isEqualTo(24.2);
        assertThat(heightAt(".line", 95)).isEqualTo(31.6);
        assertThat(browser.errors()).isEmpty();
    }

    /** The height of a line at a place, in units of the drawing. */
    private static double heightAt(String line, double x) {
        return ((Number) browser.run(
                        "const path = document.querySelector(arguments[0]); const length = path.getTotalLength();"
                                + " for (let at = 0; at <= length; at += 0.05) {"
                                + "   const point = path.getPointAtLength(at);"
                                + "   if (point.x >= arguments[1]) { return Math.round(point.y * 100) / 100; }"
                                + " } return -1;",
                        line,
                        x))
                .doubleValue();
    }

    /** Where there is no HTTPS, a browser gives no access to the clipboard; on this host it does. */
    @Test
    void copiesTheExternalIdFromBehindARow() {
        host.admin().create("opened", 2);
        PermitGrant held = hold("opened", "node-1");
        open("#/semaphore/opened");
        browser.awaitText("#main table", "node-1");
        assertThat(browser.text("#main")).doesNotContain(held.externalId());

        browser.find(".who summary").click();
        browser.awaitText(".who", held.externalId()).awaitText(".who", String.valueOf(held.fencingToken()));
        browser.run("window.copied = []; navigator.clipboard.writeText = async text => { window.copied.push(text); }");
        browser.click(".who", "Copy").awaitText("#notice", "Copied.");
        assertThat(browser.run("return window.copied")).isEqualTo(List.of(held.externalId()));

        browser.run("navigator.clipboard.writeText = async () => { throw new Error('not permitted'); }");
        browser.click(".who", "Copy").awaitText("#notice", "Selected. Copy it with");
        assertThat(browser.run("return getSelection().toString()")).isEqualTo(held.externalId());
        Awaitility.await() // the page updates every two seconds, and may show odd numbers only
                .atMost(SOON)
                .untilAsserted(() -> assertThat(browser.text("#main table"))
                        .contains("Held for")
                        .containsPattern("\\b([2-9]|\\d\\d) s"));
        assertThat(browser.text(".who")).as("the row is still open").contains(held.externalId());
        assertThat(browser.errors()).isEmpty();
    }

    /** As the answers have it where requests have labels. */
    @Test
    void seesTheLabelOfAHolderBeforeItsOwner() {
        host.admin().create("labelled", 2);
        open("#/semaphore/labelled");
        browser.awaitText("#main", "Nobody.");
        browser.run("const fetched = window.fetch; window.answers = 0;"
                + " window.fetch = async (...all) => {"
                + "   const data = await (await fetched(...all)).json();"
                + "   (data.holders ?? data.requests ?? []).forEach(each => each.label = 'BackupService.backUp');"
                + "   window.answers++;"
                + "   return new Response(JSON.stringify(data), {headers: {'Content-Type': 'application/json'}});"
                + " };");
        awaitAnswers(1); // those to come have labels, too
        hold("labelled", "node-1");

        browser.awaitText(".who summary", "BackupService.backUp").awaitText(".use", "BackupService.backUp");
        assertThat(browser.text(".who summary")).matches("(?s)BackupService.backUp\\s+node-1");
        browser.click("#main table", "Release").awaitText("dialog", "BackupService.backUp loses 1 permit of labelled");
        assertThat(browser.text("dialog .facts")).contains("BackupService.backUp", "node-1");
        browser.click("dialog", "Cancel");
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void seesAHolderInTwoLinesOnAPhone() {
        host.admin().create("phone", 3);
        PermitGrant held = hold("phone", "backup-service@app-with-a-long-name.example.org:4711");
        hold("phone", "node-2");
        try {
            browser.sized(390, 800);
            open("#/semaphore/phone");
            browser.awaitText("#main table", "node-2");
            int line =
                    ((Number) browser.run("return parseFloat(getComputedStyle(document.body).lineHeight)")).intValue();
            for (int row = 1; row <= 2; row++) {
                assertThat(heightOf(row)).as("row %d", row).isBetween(2 * line, 3 * line);
            }
            assertThat(browser.text(holders() + " tbody tr"))
                    .contains("1 permit", "expires in")
                    .doesNotContain("Release");

            browser.find(".who summary").click();
            browser.awaitText(holders() + " tbody tr", held.externalId())
                    .click(holders(), "Release")
                    .find("dialog");
            browser.click("dialog", "Cancel");
            assertThat(((Number) browser.run("return document.documentElement.scrollWidth")).intValue())
                    .isLessThanOrEqualTo(390);
        } finally {
            browser.sized(1280, 900);
        }
        assertThat(browser.errors()).isEmpty();
    }

    private static int heightOf(int row) {
        return ((Number) browser.run(
                        "return document.querySelector(arguments[0]).offsetHeight",
                        holders() + " tbody tr:nth-child(" + row + ")"))
                .intValue();
    }

    private static String holders() {
        return "section[aria-labelledby='holders-title']";
    }

    @Test
    void seesOneRowForAHolderThatIsInAnAnswerTwice() {
        host.admin().create("twice", 5);

        open("#/semaphore/twice");
        browser.awaitText("#main", "Nobody.");
        browser.run("const fetched = window.fetch; window.answers = 0;"
                + " window.fetch = async (...all) => {"
                + "   const response = await fetched(...all);"
                + "   if (!all[0].includes('/semaphores?name=')) { return response; }"
                + "   const data = await response.json();"
                + "   if (data.holders.length > 0 && window.answers++ === 0) { data.holders.push(...data.holders); }"
                + "   return new Response(JSON.stringify(data), {headers: {'Content-Type': 'application/json'}});"
                + " };");
        hold("twice", "node-1");
        awaitAnswers(3);

        assertThat(browser.findAll("section[aria-labelledby='holders-title'] tbody tr"))
                .hasSize(1);
        assertThat(browser.errors()).isEmpty();
    }

    /** Of those that the page fetched as the test has it, and that it counted. */
    private static void awaitAnswers(int count) {
        Awaitility.await()
                .atMost(SOON)
                .until(() -> ((Number) browser.run("return window.answers")).intValue() >= count);
    }

    /** As with more than 10,000 semaphores: the endpoint has the others for those who search. */
    @Test
    void findsASemaphoreThatTheOverviewHasNoRoomFor() {
        host.admin().create("0-first", 1);
        host.admin().create("zz-last", 1);
        open("");
        browser.awaitText(".semaphores", "zz-last");
        browser.run("const fetched = window.fetch;"
                + " window.fetch = (url, ...more) => fetched(url.replace('limit=10000', 'limit=1'), ...more);");
        browser.awaitNoText(".semaphores", "zz-last")
                .awaitText(".semaphores", "0-first")
                .awaitText(".summary", "There are more: search for a part of their names.");

        browser.type("#search", "LAST")
                .awaitText(".semaphores", "zz-last")
                .awaitNoText(".semaphores", "0-first")
                .awaitNoText(".summary", "There are more");
        browser.type("#search", "no such name").awaitText(".summary", "No name contains “no such name”.");

        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void isToldInWordsThatAnAnswerBrokeOff() {
        open("");
        browser.awaitText("#freshness", "Live");
        browser.run("window.fetch = async () => new Response("
                + "new ReadableStream({start: answer => answer.error(new TypeError('network error'))}),"
                + " {headers: {'Content-Type': 'application/json'}})");

        browser.awaitText("#problem", "The application cannot be reached, or its answer broke off.");
    }

    @Test
    void namesWhichOfTwoHoldersOfOneOwnerIsReleased() {
        host.admin().create("twins", 3);
        PermitGrant first = hold("twins", "node-1");
        PermitGrant second = hold("twins", "node-1");

        open("#/semaphore/twins");
        browser.awaitText("#main table", "node-1");
        openRows();
        browser.awaitText("#main table", second.externalId());
        browser.run(
                "[...document.querySelectorAll('table tr')].find(row => row.innerText.includes(arguments[0]))"
                        + ".querySelector('button.danger').click()",
                second.externalId());
        browser.awaitText("dialog", second.externalId())
                .awaitText("dialog", String.valueOf(second.fencingToken()))
                .awaitText("dialog", "Held for");
        first.release(); // the rows move
        browser.awaitNoText("#main table", first.externalId());
        assertThat(browser.text("tr.marked")).contains(second.externalId());
        second.release();
        browser.awaitText("dialog .failure", "not among the holders any more");
        browser.click("dialog", "Cancel");

        assertThat(browser.findAll("tr.marked")).isEmpty();
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void seesTheCapacityAsItWas() {
        host.admin().create("stepped", 20);
        hold("stepped", "night").release();
        host.admin().forceRelease(hold("stepped", "night").externalId(), "ada", "the process hangs");
        host.admin().setCapacity("stepped", 5, "ada", "fewer servers");
        host.admin().setCapacity("stepped", 0, "ada", "closing");
        changedAgo("fewer servers", Duration.ofMinutes(10));
        changedAgo("closing", Duration.ofMinutes(5));

        open("#/semaphore/stepped");
        browser.awaitText(".marks", "◆");

        // it begins a thirtieth before the first change; of 40 units, 39 are no permit and 2 are the highest capacity
        assertThat(heightAt(".limit", 1)).isEqualTo(2.0);
        assertThat(heightAt(".limit", 30)).isEqualTo(29.75);
        assertThat(heightAt(".limit", 95)).isEqualTo(39.0);
        assertThat(browser.find(".mark.change").getDomAttribute("title"))
                .contains("Capacity 20 → 5, by ada. fewer servers");
        assertThat(browser.find(".mark.forced").getDomAttribute("title")).contains("by ada", "the process hangs");
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void knowsAnOwnerByItsColour() {
        host.admin().create("coloured", 5);
        hold("coloured", "beta");
        hold("coloured", "gamma");
        open("#/semaphore/coloured");
        browser.awaitText(".legend", "beta").awaitText(".legend", "gamma");
        Object beta = colourOf("beta");
        Object gamma = colourOf("gamma");
        assertThat(beta).isNotEqualTo(gamma);

        host.admin().create("recoloured", 5);
        hold("recoloured", "gamma");
        hold("recoloured", "alpha");
        hold("recoloured", "beta");
        open("#/semaphore/recoloured"); // the document is loaded anew, and meets the owners in another order
        browser.awaitText(".legend", "alpha");

        assertThat(colourOf("beta")).isEqualTo(beta);
        assertThat(colourOf("gamma")).isEqualTo(gamma);
        assertThat(browser.run("return getComputedStyle([...document.querySelectorAll('.legend li')]"
                        + ".find(item => item.innerText === 'beta').firstChild).backgroundColor"))
                .isEqualTo(beta);
        assertThat(browser.errors()).isEmpty();
    }

    private static Object colourOf(String owner) {
        return browser.run(
                "return getComputedStyle([...document.querySelectorAll('.use')].find(bar => bar.textContent === arguments[0])).backgroundColor",
                owner);
    }

    /** By a finger or a pointer: the bar of a short request has no room for a word. */
    @Test
    void readsWhatANarrowBarIs() {
        host.admin().create("narrow", 5);
        PermitGrant past = hold("narrow", "a rather long name of an owner");
        past.release();

        open("#/semaphore/narrow");
        browser.find(".use");
        browser.run("document.querySelector('.use').dispatchEvent(new MouseEvent('click', {bubbles: true}))");

        String pointed = "section[aria-labelledby='timeline-title'] .pointed";
        browser.awaitText(pointed, "a rather long name of an owner: 1 permit").awaitText(pointed, past.externalId());
        assertThat(browser.errors()).isEmpty();
    }

    /** A process that was killed a moment ago: the lease of its last heartbeat has not expired yet. */
    @Test
    void seesThatTheProcessOfAHolderIsSilent() {
        host.admin().create("silent", 5);
        PermitGrant kept = host.semaphores()
                .acquire(AcquireRequest.of("silent").withOwner("report").withKeepAlive(true));
        PermitGrant leaked = hold("silent", "node-9@host:1");
        PermitGrant stranger = hold("silent", "somebody");
        LocalDateTime now = now();
        database.jdbc()
                .update(
                        "insert into semaphore_instance (id, owner, started_at, heartbeat_at, expires_at) values (?, ?, ?, ?, ?)",
                        4711L,
                        "node-9@host:1",
                        now.minusHours(1),
                        now.minusSeconds(10),
                        now.minusSeconds(10).plusSeconds(120));
        database.jdbc().update("update permit_request set instance = 4711 where external_id = ?", kept.externalId());

        open("#/semaphore/silent");
        // a lease of 120 s is that of an instance timeout of 180 s: a heartbeat of 10 s ago is not late, one of 70 s
        // ago is
        browser.awaitText(row("silent", kept), "kept alive");
        LocalDateTime later = now();
        database.jdbc()
                .update(
                        "update semaphore_instance set heartbeat_at = ?, expires_at = ? where id = 4711",
                        later.minusSeconds(70),
                        later.plusSeconds(50));

        browser.awaitText(row("silent", kept), "no heartbeat for 1 min")
                .awaitText(row("silent", kept), "taken back in 1 min");
        browser.awaitText(row("silent", leaked), "node-9@host:1 sent no heartbeat for 1 min")
                .awaitText(row("silent", leaked), "expires in");
        openRows();
        browser.awaitText(row("silent", leaked), "not kept alive; node-9@host:1 sent no heartbeat for 1 min");
        browser.awaitText(row("silent", stranger), "process unknown");
        open("#/instances");
        browser.awaitText("#main", "1 without a heartbeat").awaitText("#main", "no heartbeat for 1 min");
        assertThat(browser.errors()).isEmpty();
        database.jdbc().update("delete from semaphore_instance where id = 4711");
        database.jdbc().update("update permit_request set instance = null where external_id = ?", kept.externalId());
    }

    /** It has kept a grant alive before, and sends no heartbeats since. */
    @Test
    void seesThatAnInstanceThatKeepsNothingAliveIsIdle() {
        host.admin().create("unkept", 5);
        PermitGrant held = hold("unkept", "node-8@host:1");
        LocalDateTime now = now();
        database.jdbc()
                .update(
                        "insert into semaphore_instance (id, owner, started_at, heartbeat_at, expires_at) values (?, ?, ?, ?, ?)",
                        4712L,
                        "node-8@host:1",
                        now.minusHours(2),
                        now.minusHours(1),
                        now.minusHours(1).plusSeconds(20));

        open("#/semaphore/unkept");
        browser.find(".who summary").click();
        browser.awaitText(row("unkept", held), "node-8@host:1 keeps nothing alive, so it sends no heartbeats");
        open("#/instances");
        browser.awaitText("#main", "node-8@host:1").awaitText(".state.paused", "idle");
        assertThat(browser.text("#main")).doesNotContain("lost", "without a heartbeat");
        assertThat(browser.errors()).isEmpty();
        database.jdbc().update("delete from semaphore_instance where id = 4712");
    }

    private static void openRows() {
        browser.run("document.querySelectorAll('.who').forEach(row => row.open = true)");
    }

    private static String row(String semaphore, PermitGrant grant) {
        return "section[aria-labelledby='holders-title'] tbody tr:nth-child(%d)"
                .formatted(1
                        + host.admin().holders(semaphore).stream()
                                .map(holder -> holder.externalId())
                                .toList()
                                .indexOf(grant.externalId()));
    }

    @Test
    void findsInTheHistoryWhatWasTakenBack() {
        host.admin().create("expiring", 2);
        PermitGrant expired = hold("expiring", "crashed-job");
        database.jdbc()
                .update(
                        "update permit_request set expires_at = ? where external_id = ?",
                        now().minusSeconds(1),
                        expired.externalId());
        assertThat(host.bean(SemaphoreMaintenance.class).releaseOrphans()).isEqualTo(1);

        open("#/semaphore/expiring");
        browser.click("#main", "Change capacity").type("#capacity", "3").type("#reason", "one more disk");
        browser.click("dialog", "Change capacity");

        browser.awaitText(history(), "Took back 1 permit of crashed-job")
                .awaitText(history(), expired.externalId())
                .awaitText(history(), "Its time to live had passed")
                .awaitText(history(), "the library")
                .awaitText(history(), "Capacity 2 → 3")
                .awaitText(history(), "not signed in");
        assertThat(browser.find(".mark.reclaim").getDomAttribute("title"))
                .contains("Took back 1 permit of crashed-job");
        assertThat(browser.errors()).isEmpty();
    }

    private static String history() {
        return "section[aria-labelledby='history-title']";
    }

    @Test
    void isToldWhichPropertyShowsTheButtons() {
        try (OrdersHost showing = OrdersHost.web(database, EXPOSED);
                OrdersHost signedOut = OrdersHost.web(database, (Object[]) WRITABLE);
                OrdersHost readOnly = OrdersHost.web(
                        database, WRITABLE[0], WRITABLE[1], "management.endpoint.semaphores.access=read-only")) {
            browser.open(page(showing, "#/semaphore/orders"));
            browser.awaitText(".hint", "management.endpoint.semaphores.set-capacity-enabled=true")
                    .awaitText(".hint", "management.endpoint.semaphores.force-release-enabled=true");
            browser.open(page(signedOut, "#/semaphore/orders"));
            browser.awaitText(".hint", "Only users who have signed in may change anything")
                    .awaitNoText(".hint", "set-capacity-enabled");
            assertThat(browser.text(".actions")).isEmpty();
            browser.open(page(readOnly, "#/semaphore/orders"));
            browser.awaitText(".hint", "management.endpoint.semaphores.access");
            browser.driver().get("about:blank"); // the page would ask a host that has ended
        }
        open("#/semaphore/orders");
        browser.awaitText(".actions", "Change capacity");
        assertThat(browser.text(".hint")).isEmpty();
        assertThat(browser.errors()).isEmpty();
    }

    private static PermitGrant hold(String name, String owner) {
        return hold(name, owner, 1);
    }

    private static PermitGrant hold(String name, String owner, int permits) {
        return host.semaphores()
                .acquire(AcquireRequest.of(name)
                        .withPermits(name, permits)
                        .withOwner(owner)
                        .withTtl(Duration.ofHours(3)));
    }

    private static void changedAgo(String reason, Duration ago) {
        database.jdbc().update("update capacity_change set changed_at = ? where reason = ?", now().minus(ago), reason);
    }

    private static void acquiredAgo(PermitGrant grant, Duration ago) {
        database.jdbc()
                .update(
                        "update permit_request set created_at = ? where external_id = ?",
                        now().minus(ago),
                        grant.externalId());
    }

    private static LocalDateTime now() {
        Instant now = host.admin().now();
        return LocalDateTime.ofInstant(now, ZoneOffset.UTC);
    }

    private static void open(String hash) {
        browser.open(page(host, hash));
    }

    private static String page(OrdersHost of, String hash) {
        return "http://localhost:%d/actuator/semaphores%s".formatted(of.port(), hash);
    }
}
