package io.dbsemaphore.boot.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireFuture;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.QueuePosition;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.admin.SemaphoreMaintenance;
import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.testing.TestDatabase;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is published of what really happened, on a real database, by the registry that Spring Boot makes. */
class SemaphoreMetricsIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(30);

    private static TestDatabase.Schema database;

    private OrdersHost host;
    private MeterRegistry registry;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @BeforeEach
    void start() {
        host = OrdersHost.on(
                database,
                "semaphore.metrics.refresh-interval=1s",
                "semaphore.jdbc.lock-wait-timeout=1s",
                "semaphore.patterns.[tenant:*].max-waiting=0",
                "semaphore.semaphores.orders.weights.premium=3",
                "semaphore.semaphores.orders.weights.[basic/batch]=2",
                "semaphore.patterns.[newest:*].capacity=1",
                "semaphore.patterns.[newest:*].max-waiting=1",
                "semaphore.patterns.[newest:*].on-full=keep-newest",
                "semaphore.maintenance.enabled=false");
        registry = host.bean(MeterRegistry.class);
        database.jdbc().update("update permit set state = 'RELEASED'");
        database.jdbc().update("update permit_request set state = 'RELEASED'");
    }

    @AfterEach
    void stop() {
        host.close();
    }

    private static double semaphoresOfPatterns() {
        return database.jdbc().queryForObject("select count(*) from semaphore where pattern is not null", Double.class);
    }

    /** What appears with its first event has no increase that a query could see. */
    @Test
    void startAtZeroForEachNameThatIsConfigured() {
        for (String name : List.of("orders", "tenant:*", "newest:*", "other")) {
            assertThat(refused(name, "permits")).isZero();
            assertThat(refused(name, "queue")).isZero();
            assertThat(counter("semaphore.expired", name).count()).isZero();
            assertThat(counter("semaphore.lost", name).count()).isZero();
            assertThat(gauge("semaphore.waiting", name)).isZero();
            assertThat(registry.get("semaphore.hold")
                            .tag("semaphore", name)
                            .timer()
                            .count())
                    .isZero();
            assertThat(timer("semaphore.wait", name, "granted").count()).isZero();
            assertThat(timer("semaphore.wait", name, "refused").count()).isZero();
            assertThat(acquires(name, "granted").count()).isZero();
            assertThat(acquires(name, "refused").count()).isZero();
            assertThat(acquires(name, "failed").count()).isZero();
        }
        assertThat(registry.get("semaphore.retries").counters()).isNotEmpty().allMatch(each -> each.count() == 0);
    }

    @Test
    void countsAForcedReleaseThroughItsOwnInstanceAsLost() {
        PermitGrant grant =
                host.semaphores().acquire(AcquireRequest.of("orders").withKeepAlive(true));

        host.admin().forceRelease(grant.externalId(), "ops", "a drill");

        assertThat(counter("semaphore.lost", "orders").count()).isEqualTo(1);
    }

    @Test
    void countsAGrantThatExpiresUnreleasedAsLost() {
        host.semaphores().acquire(AcquireRequest.of("orders").withTtl(AcquireRequest.MIN_TTL));

        await().atMost(SOON).until(() -> counter("semaphore.lost", "orders").count() == 1);
    }

    @Test
    void timesAcquiresByTheirOutcome() {
        PermitGrant grant = host.semaphores().acquire(AcquireRequest.of("orders"));
        host.semaphores().tryAcquire(AcquireRequest.of("orders"));
        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> host.semaphores().execute(AcquireRequest.of("orders"), any -> any));
        assertThatExceptionOfType(SemaphoreNotFoundException.class)
                .isThrownBy(() -> host.semaphores().acquire(AcquireRequest.of("orders", "unknown")));
        grant.release();

        assertThat(acquires("orders", "granted").count()).isEqualTo(1);
        assertThat(acquires("orders", "granted").totalTime(TimeUnit.NANOSECONDS))
                .isPositive();
        assertThat(acquires("orders", "refused").count()).isEqualTo(2);
        assertThat(acquires("orders", "failed").count()).isEqualTo(1);
        assertThat(acquires("other", "failed").count()).isEqualTo(1);
    }

    /** Only shares with a weight in the settings have a value of their own: the settings bound the number of values. */
    @Test
    void countsAcquiresByTheirShares() {
        for (String share : List.of("premium", "premium/eu", "basic/batch", "basic", "visitor-4711")) {
            host.semaphores()
                    .acquire(AcquireRequest.of("orders", "newest:a").withShare(share))
                    .release();
        }
        PermitGrant held = host.semaphores().acquire(AcquireRequest.of("orders"));
        host.semaphores().tryAcquire(AcquireRequest.of("orders").withShare("premium"));
        held.release();

        assertThat(acquiresOf("premium", "granted")).isEqualTo(2);
        assertThat(acquiresOf("premium", "refused")).isEqualTo(1);
        assertThat(acquiresOf("basic/batch", "granted")).isEqualTo(1);
        assertThat(acquiresOf("basic/batch", "failed")).isZero();
        assertThat(acquiresOf("other", "granted")).isEqualTo(2);
        assertThat(registry.get("semaphore.share.acquire")
                        .tags("semaphore", "newest:*", "share", "other", "outcome", "granted")
                        .timer()
                        .count())
                .as("has no weights")
                .isEqualTo(5);
    }

    @Test
    void countsTheCallersOfSharesWithAnAcquireInProgress() throws Exception {
        PermitGrant held = host.semaphores().acquire(AcquireRequest.of("orders"));
        List<CompletableFuture<PermitGrant>> waiting = Stream.of("premium", "premium/eu", "visitor-4711")
                .<CompletableFuture<PermitGrant>>map(share -> host.semaphores()
                        .acquireAsync(
                                AcquireRequest.of("orders").withShare(share).withWaitTime(SOON)))
                .toList();

        assertThat(waitingOf("premium")).isEqualTo(2);
        assertThat(waitingOf("basic/batch")).isZero();
        assertThat(waitingOf("other")).isEqualTo(1);

        List<CompletableFuture<Void>> served = waiting.stream()
                .map(each -> each.thenAccept(PermitGrant::release))
                .toList();
        held.release();
        for (CompletableFuture<Void> each : served) {
            each.get(SOON.toSeconds(), TimeUnit.SECONDS);
        }
        assertThat(waitingOf("premium")).isZero();
        assertThat(waitingOf("other")).isZero();
    }

    private double waitingOf(String share) {
        return registry.get("semaphore.share.waiting")
                .tags("semaphore", "orders", "share", share)
                .gauge()
                .value();
    }

    private long acquiresOf(String share, String outcome) {
        return registry.get("semaphore.share.acquire")
                .tags("semaphore", "orders", "share", share, "outcome", outcome)
                .timer()
                .count();
    }

    /** The work of a future may run on the thread that completes it, and for long. */
    @Test
    void timesNoWorkThatFollowsAnAsynchronousAcquire() throws Exception {
        PermitGrant grant = host.semaphores().acquire(AcquireRequest.of("orders"));
        CompletableFuture<Boolean> begun = new CompletableFuture<>();
        CompletableFuture<Boolean> goOn = new CompletableFuture<>();
        CompletableFuture<Void> work = host.semaphores()
                .acquireAsync(AcquireRequest.of("orders").withWaitTime(SOON))
                .thenAccept(acquired -> {
                    begun.complete(true);
                    goOn.join();
                    acquired.close();
                });
        grant.release();
        assertThat(begun).succeedsWithin(SOON);

        assertThat(gauge("semaphore.waiting", "orders")).isZero();
        assertThat(acquires("orders", "granted").count()).isEqualTo(2);

        goOn.complete(true);
        assertThat(work).succeedsWithin(SOON);
    }

    @Test
    void timesTheWaitOfThoseWhoHadToWait() throws Exception {
        PermitGrant grant = host.semaphores().acquire(AcquireRequest.of("orders"));
        CompletableFuture<PermitGrant> waiting = CompletableFuture.supplyAsync(
                () -> host.semaphores().acquire(AcquireRequest.of("orders").withWaitTime(SOON)));
        await().atMost(SOON)
                .until(() -> host.admin().find("orders").orElseThrow().waiting() == 1);
        long begun = System.nanoTime();
        await().until(() -> System.nanoTime() - begun > TimeUnit.MILLISECONDS.toNanos(500));

        grant.release();

        PermitGrant waited = waiting.get(30, TimeUnit.SECONDS);
        host.semaphores().tryAcquire(AcquireRequest.of("orders").withWaitTime(Duration.ofSeconds(2)));
        waited.release();
        Timer granted = timer("semaphore.wait", "orders", "granted");
        assertThat(granted.count()).isEqualTo(1);
        assertThat(granted.totalTime(TimeUnit.MILLISECONDS)).isGreaterThan(500);
        Timer refused = timer("semaphore.wait", "orders", "refused");
        assertThat(refused.count()).isEqualTo(1);
        assertThat(refused.totalTime(TimeUnit.MILLISECONDS)).isGreaterThan(1900);
        assertThat(gauge("semaphore.waiting", "orders")).isZero();
    }

    @Test
    void timesTheHold() {
        PermitGrant grant = host.semaphores().acquire(AcquireRequest.of("orders"));
        long begun = System.nanoTime();
        await().until(() -> System.nanoTime() - begun > TimeUnit.MILLISECONDS.toNanos(300));

        grant.release();

        Timer hold = registry.get("semaphore.hold").tag("semaphore", "orders").timer();
        assertThat(hold.count()).isEqualTo(1);
        assertThat(hold.totalTime(TimeUnit.MILLISECONDS)).isBetween(300.0, 30_000.0);
    }

    @Test
    void countsARefusalForTheSemaphoreThatWasShort() {
        host.admin().create("tenant:short", 0);

        host.semaphores().tryAcquire(AcquireRequest.of("orders", "tenant:short"));

        assertThat(refused("tenant:*", "permits")).isEqualTo(1);
        assertThat(refused("orders", "permits")).isZero();
    }

    @Test
    void countsARefusalForTheSemaphoreWhoseQueueWasFull() {
        PermitGrant held = host.semaphores().acquire(AcquireRequest.of("tenant:a", 2));

        assertThat(host.semaphores()
                        .tryAcquire(AcquireRequest.of("orders", "tenant:a").withWaitTime(SOON)))
                .isEmpty();

        assertThat(refused("tenant:*", "queue")).isEqualTo(1);
        assertThat(refused("tenant:*", "permits")).isZero();
        assertThat(refused("orders", "queue")).isZero();
        assertThat(timer("semaphore.wait", "tenant:*", "refused").count()).isZero();
        held.release();
    }

    @Test
    void timesTheWaitThatANewerCallerHasEnded() {
        AcquireRequest request = AcquireRequest.of("newest:a");
        PermitGrant held = host.semaphores().acquire(request);
        CompletableFuture<PermitGrant> first = host.semaphores().acquireAsync(request.withWaitTime(SOON));
        await().atMost(SOON)
                .until(() -> host.admin().find("newest:a").orElseThrow().waiting() == 1);
        AcquireFuture newest = host.semaphores().acquireAsync(request.withWaitTime(SOON));

        await().atMost(SOON).until(first::isCompletedExceptionally);
        await().atMost(SOON)
                .untilAsserted(
                        () -> assertThat(newest.positions()).singleElement().returns(0L, QueuePosition::ahead));

        assertThat(refused("newest:*", "queue")).isEqualTo(1);
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(
                                timer("semaphore.wait", "newest:*", "refused").count())
                        .isEqualTo(1));
        held.release();
        newest.join().release();
    }

    @Test
    void countsWhatWasTakenBackByItsSemaphores() {
        host.semaphores().acquire(AcquireRequest.of("orders", "tenant:a").withTtl(Duration.ofSeconds(1)));

        await().atMost(SOON).until(() -> host.bean(SemaphoreMaintenance.class).releaseOrphans() > 0);

        assertThat(counter("semaphore.expired", "orders").count()).isEqualTo(1);
        assertThat(counter("semaphore.expired", "tenant:*").count()).isEqualTo(1);
    }

    @Test
    void countsWhatWasLost() {
        PermitGrant taken = host.semaphores().acquire(AcquireRequest.of("orders"));
        database.jdbc()
                .update("update permit_request set state = 'RELEASED' where external_id = ?", taken.externalId());
        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> taken.renew(Duration.ofMinutes(1)));
        assertThat(counter("semaphore.lost", "orders").count()).isEqualTo(1);
    }

    @Test
    void tellsHowManyAcquiresATransactionDecided() {
        host.semaphores().acquire(AcquireRequest.of("orders")).release();

        await().atMost(SOON).untilAsserted(() -> {
            DistributionSummary size = registry.get("semaphore.batch.size").summary();
            assertThat(size.count()).isPositive();
            assertThat(size.totalAmount()).isEqualTo(size.count());
        });
    }

    @Test
    void showsWhatTheDatabaseHasBySumsOfWhatIsConfigured() {
        PermitGrant order = host.semaphores().acquire(AcquireRequest.of("orders"));
        PermitGrant tenants = host.semaphores().acquire(AcquireRequest.of("tenant:a", "tenant:b"));

        await().atMost(SOON).untilAsserted(() -> {
            assertThat(gauge("semaphore.permits.capacity", "orders")).isEqualTo(1);
            assertThat(gauge("semaphore.permits.held", "orders")).isEqualTo(1);
            assertThat(gauge("semaphore.permits.available", "orders")).isZero();
            assertThat(gauge("semaphore.permits.held", "tenant:*")).isEqualTo(2);
            assertThat(gauge("semaphore.permits.capacity", "tenant:*")).isGreaterThanOrEqualTo(4);
            assertThat(registry.get("semaphore.patterns.usage").gauge().value() * 100_000)
                    .isCloseTo(semaphoresOfPatterns(), within(0.001));
        });
        CompletableFuture<PermitGrant> waiting =
                host.semaphores().acquireAsync(AcquireRequest.of("orders").withWaitTime(SOON));
        await().atMost(SOON)
                .untilAsserted(() ->
                        assertThat(gauge("semaphore.permits.waiting", "orders")).isEqualTo(1));
        waiting.cancel(true);
        order.release();
        tenants.release();
        await().atMost(SOON).untilAsserted(() -> {
            assertThat(gauge("semaphore.permits.held", "orders")).isZero();
            assertThat(gauge("semaphore.permits.held", "tenant:*")).isZero();
        });
    }

    /** A tag value for each tenant would be a metric for each tenant. */
    @Test
    void neverNamesWhatIsNotConfigured() {
        host.admin().create("made by hand", 1);
        for (int tenant = 0; tenant < 5; tenant++) {
            try (PermitGrant grant = host.semaphores().acquire(AcquireRequest.of("tenant:" + tenant, "made by hand"))) {
                host.semaphores().tryAcquire(AcquireRequest.of("made by hand"));
            }
        }
        host.bean(SemaphoreMaintenance.class).releaseOrphans();

        assertThat(registry.getMeters().stream()
                        .map(meter -> meter.getId().getTag("semaphore"))
                        .filter(name -> name != null))
                .isNotEmpty()
                .containsOnly("orders", "tenant:*", "newest:*", "other", "several");
        assertThat(acquires("other", "granted").count()).isEqualTo(5);
        assertThat(acquires("tenant:*", "granted").count()).isEqualTo(5);
    }

    @Test
    void doesNotMeasureWhereThatIsSwitchedOff() {
        try (OrdersHost unmeasured = OrdersHost.on(database, "semaphore.metrics.enabled=false")) {
            unmeasured.semaphores().acquire(AcquireRequest.of("orders")).release();

            assertThat(unmeasured.bean(MeterRegistry.class).getMeters())
                    .noneMatch(meter -> meter.getId().getName().equals("semaphore.acquire")
                            || meter.getId().getName().equals("semaphore.permits.held"));
        }
    }

    private Timer acquires(String semaphore, String outcome) {
        return timer("semaphore.acquire", semaphore, outcome);
    }

    private Timer timer(String name, String semaphore, String outcome) {
        return registry.get(name)
                .tag("semaphore", semaphore)
                .tag("outcome", outcome)
                .timer();
    }

    private Counter counter(String name, String semaphore) {
        return registry.get(name).tag("semaphore", semaphore).counter();
    }

    private double refused(String semaphore, String reason) {
        return registry.get("semaphore.refused")
                .tags("semaphore", semaphore, "reason", reason)
                .counter()
                .count();
    }

    private double gauge(String name, String semaphore) {
        return registry.get(name).tag("semaphore", semaphore).gauge().value();
    }
}
