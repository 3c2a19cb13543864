package io.dbsemaphore.boot.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.admin.SemaphoreMaintenance;
import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.testing.TestDatabase;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The table of docs/metrics.md is what is published, no less and no more. The dashboard and the alert rules ask for nothing
 * else.
 */
class DocumentedMetricsIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Pattern ROW =
            Pattern.compile("^\\| `(semaphore\\.[a-z.]+)` \\| ([^|]+) \\|", Pattern.MULTILINE);
    private static final Pattern ALERT_ROW =
            Pattern.compile("^\\| `(Semaphore\\w+)` \\| (\\w+) \\|", Pattern.MULTILINE);
    private static final Pattern ALERT =
            Pattern.compile("- alert: (\\w+)\\n(?:(?!- alert).)*?severity: (\\w+)\\n", Pattern.DOTALL);
    private static final Pattern IN_PROMETHEUS = Pattern.compile("semaphore_[a-z_]+");

    private static TestDatabase.Schema database;
    private static OrdersHost host;
    private static String scraped;

    @BeforeAll
    static void letEverythingHappen() throws Exception {
        database = TestDatabase.create();
        host = OrdersHost.on(
                database,
                "semaphore.jdbc.lock-wait-timeout=10s",
                "semaphore.jdbc.max-attempts=20",
                "semaphore.semaphores.orders.weights.premium=3",
                "semaphore.maintenance.enabled=false");
        PermitGrant held = host.semaphores().acquire(AcquireRequest.of("orders"));
        CompletableFuture<PermitGrant> waiting = CompletableFuture.supplyAsync(
                () -> host.semaphores().acquire(AcquireRequest.of("orders").withWaitTime(SOON)));
        await().atMost(SOON)
                .until(() -> registry()
                                .get("semaphore.waiting")
                                .tag("semaphore", "orders")
                                .gauge()
                                .value()
                        == 1);
        // that it was refused before it was granted is seen in the second transaction
        await().atMost(SOON)
                .until(() -> registry().get("semaphore.batch.size").summary().count() > 1);
        held.release();
        PermitGrant second = waiting.join();
        host.semaphores().tryAcquire(AcquireRequest.of("orders"));
        second.release();
        expire();
        lose();
        tryAgain();
        scraped = ((PrometheusMeterRegistry) registry()).scrape();
    }

    @AfterAll
    static void stop() {
        host.close();
        database.close();
    }

    @Test
    void eachMeterIsDocumentedAndEachDocumentedOneIsPublished() throws IOException {
        Set<String> published = registry().getMeters().stream()
                .map(meter -> meter.getId().getName())
                .filter(name -> name.startsWith("semaphore."))
                .filter(name -> !name.startsWith(AcquireObservations.NAME))
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(documentedMeters()).isEqualTo(published);
        assertThat(doc("metrics.md")).contains(AcquireObservations.NAME);
    }

    @Test
    void eachNameInPrometheusIsDocumentedAndPublished() throws IOException {
        Set<String> published = names(Pattern.compile("^semaphore_[a-z_]+", Pattern.MULTILINE), scraped);
        published.removeIf(name -> name.startsWith("semaphore_acquisition_"));

        assertThat(documentedInPrometheus()).isEqualTo(published);
    }

    @Test
    void theDashboardAsksForWhatIsPublished() throws IOException {
        Set<String> asked = names(IN_PROMETHEUS, doc("grafana-dashboard.json"));

        assertThat(asked).hasSizeGreaterThan(10).isSubsetOf(documentedInPrometheus());
    }

    @Test
    void theAlertRulesAskForWhatIsPublished() throws IOException {
        Set<String> asked = names(IN_PROMETHEUS, doc("prometheus-alerts.yaml"));

        assertThat(asked).hasSizeGreaterThan(5).isSubsetOf(documentedInPrometheus());
    }

    /** One row for each alert, with its severity. */
    @Test
    void theTableOfAlertsIsThatOfTheRules() throws IOException {
        assertThat(ALERT_ROW.matcher(doc("metrics.md")).results().map(row -> row.group(1) + " " + row.group(2)))
                .isNotEmpty()
                .containsExactlyElementsOf(ALERT.matcher(doc("prometheus-alerts.yaml"))
                        .results()
                        .map(alert -> alert.group(1) + " " + alert.group(2))
                        .toList());
    }

    @Test
    void theDashboardShowsEachMeter() throws IOException {
        String dashboard = doc("grafana-dashboard.json");

        assertThat(documentedMeters()).allSatisfy(meter -> assertThat(dashboard).contains(meter.replace('.', '_')));
    }

    private static void expire() {
        host.semaphores().acquire(AcquireRequest.of("orders").withTtl(Duration.ofSeconds(1)));
        await().atMost(SOON).until(() -> host.bean(SemaphoreMaintenance.class).releaseOrphans() > 0);
    }

    private static void lose() {
        PermitGrant lost = host.semaphores().acquire(AcquireRequest.of("orders"));
        database.jdbc().update("update permit_request set state = 'RELEASED' where external_id = ?", lost.externalId());
        try {
            lost.renew(Duration.ofMinutes(1));
        } catch (PermitLostException expected) {
            database.jdbc().update("update permit set state = 'RELEASED'");
            return;
        }
        throw new AssertionError("was not lost");
    }

    private static void tryAgain() throws SQLException {
        CompletableFuture<PermitGrant> grant;
        try (Connection other =
                        Objects.requireNonNull(database.jdbc().getDataSource()).getConnection();
                PreparedStatement lock =
                        other.prepareStatement("select id from semaphore where name = 'orders' for update")) {
            other.setAutoCommit(false);
            lock.executeQuery();
            grant = CompletableFuture.supplyAsync(() -> host.semaphores().acquire(AcquireRequest.of("orders")));
            await().atMost(SOON)
                    .until(() -> registry().get("semaphore.retries").counters().stream()
                            .anyMatch(each -> each.count() > 0));
            other.rollback();
        }
        grant.join().release();
    }

    private static Set<String> documentedMeters() throws IOException {
        Set<String> meters = new TreeSet<>();
        Matcher rows = ROW.matcher(doc("metrics.md"));
        while (rows.find()) {
            meters.add(rows.group(1));
        }
        return meters;
    }

    private static Set<String> documentedInPrometheus() throws IOException {
        Set<String> documented = new TreeSet<>();
        Matcher rows = ROW.matcher(doc("metrics.md"));
        while (rows.find()) {
            documented.addAll(names(IN_PROMETHEUS, rows.group(2)));
        }
        return documented;
    }

    private static Set<String> names(Pattern pattern, String text) {
        Set<String> names = new TreeSet<>();
        Matcher matcher = pattern.matcher(text);
        while (matcher.find()) {
            names.add(matcher.group());
        }
        return names;
    }

    private static String doc(String name) throws IOException {
        return Files.readString(Path.of(System.getProperty("basedir", ""))
                .toAbsolutePath()
                .resolveSibling("docs")
                .resolve(name));
    }

    private static MeterRegistry registry() {
        return host.bean(MeterRegistry.class);
    }
}
