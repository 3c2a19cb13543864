package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.annotation.WithPermits;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Import;

/** What is configured for a semaphore holds for requests and annotations that do not say otherwise. */
class ConfiguredDefaultsTests {

    private static final AcquireRequest CONFIGURED = AcquireRequest.of("configured");
    private static final AcquireRequest BOTH = AcquireRequest.of("plain", "configured");

    private final ApplicationContextRunner host = Hosts.jdbc()
            .withUserConfiguration(Configuration.class)
            .withPropertyValues(
                    "semaphore.semaphores.plain.capacity=1",
                    "semaphore.semaphores.configured.capacity=1",
                    "semaphore.semaphores.configured.wait-time=300ms",
                    "semaphore.semaphores.configured.max-hold=50s",
                    "semaphore.defaults.max-hold=60s");

    @Test
    void requestsWithoutAWaitTimeWaitAsConfigured() {
        run(semaphores -> {
            try (PermitGrant held = semaphores.acquire(CONFIGURED)) {
                assertThat(refusal(semaphores, CONFIGURED)).hasMessageContaining("acquired within PT0.3S");
                assertThat(refusal(semaphores, BOTH)).hasMessageContaining("acquired within PT0.3S");
                assertThat(refusal(semaphores, CONFIGURED.withWaitTime(Duration.ZERO)))
                        .hasMessageNotContaining("within");
                assertThat(refusal(semaphores, CONFIGURED.withWaitTime(Duration.ofMillis(200))))
                        .hasMessageContaining("acquired within PT0.2S");
            }
            try (PermitGrant held = semaphores.acquire(AcquireRequest.of("plain"))) {
                assertThat(refusal(semaphores, AcquireRequest.of("plain"))).hasMessageNotContaining("within");
            }
        });
    }

    @Test
    void requestsWithoutAWaitTimeAreGrantedWithinTheConfiguredOne() {
        host.withPropertyValues("semaphore.semaphores.configured.wait-time=30s").run(context -> {
            SemaphoreOperations semaphores = context.getBean(SemaphoreOperations.class);
            PermitGrant held = semaphores.acquire(CONFIGURED);
            CompletableFuture<PermitGrant> waiting = semaphores.acquireAsync(CONFIGURED);
            assertThat(semaphores.tryAcquire(CONFIGURED.withWaitTime(Duration.ofMillis(300))))
                    .isEmpty();
            assertThat(waiting).isNotDone();

            held.release();

            assertThat(waiting).succeedsWithin(Duration.ofSeconds(10));
            waiting.join().release();
        });
    }

    @Test
    void semaphoresWithoutAWaitTimeHaveThatOfAll() {
        host.withPropertyValues("semaphore.defaults.wait-time=200ms").run(context -> {
            SemaphoreOperations semaphores = context.getBean(SemaphoreOperations.class);
            try (PermitGrant held = semaphores.acquire(AcquireRequest.of("plain"));
                    PermitGrant other = semaphores.acquire(CONFIGURED)) {
                assertThat(refusal(semaphores, AcquireRequest.of("plain")))
                        .hasMessageContaining("acquired within PT0.2S");
                assertThat(refusal(semaphores, CONFIGURED)).hasMessageContaining("acquired within PT0.3S");
                assertThat(refusal(semaphores, AcquireRequest.of("plain").withWaitTime(Duration.ZERO)))
                        .hasMessageNotContaining("within");
            }
        });
    }

    @Test
    void annotationsWithoutAWaitTimeWaitAsConfigured() {
        host.run(context -> {
            Backup backup = context.getBean(Backup.class);
            try (PermitGrant held = context.getBean(SemaphoreOperations.class).acquire(CONFIGURED)) {
                assertThatExceptionOfType(PermitsUnavailableException.class)
                        .isThrownBy(backup::run)
                        .withMessageContaining("acquired within PT0.3S");
                assertThatExceptionOfType(PermitsUnavailableException.class)
                        .isThrownBy(backup::runAtOnce)
                        .withMessageNotContaining("within");
            }
        });
    }

    @Test
    void grantsThatAreKeptAliveEndAsConfigured() {
        run(semaphores -> {
            assertThat(timeToLive(semaphores, CONFIGURED)).isEqualTo(Duration.ofSeconds(50));
            assertThat(timeToLive(semaphores, BOTH)).isEqualTo(Duration.ofSeconds(50));
            assertThat(timeToLive(semaphores, AcquireRequest.of("plain"))).isEqualTo(Duration.ofSeconds(60));
            assertThat(timeToLive(semaphores, CONFIGURED.withMaxHold(Duration.ofSeconds(70))))
                    .isEqualTo(Duration.ofSeconds(70));
        });
    }

    private void run(Consumer<SemaphoreOperations> test) {
        host.run(context -> test.accept(context.getBean(SemaphoreOperations.class)));
    }

    private static PermitsUnavailableException refusal(SemaphoreOperations semaphores, AcquireRequest request) {
        try (PermitGrant unexpected = semaphores.acquire(request)) {
            throw new AssertionError("granted: " + unexpected);
        } catch (PermitsUnavailableException refused) {
            return refused;
        }
    }

    /** A grant that is kept alive never expires later than it ends. */
    private static Duration timeToLive(SemaphoreOperations semaphores, AcquireRequest request) {
        try (PermitGrant grant = semaphores.acquire(request.withKeepAlive(true))) {
            return Duration.between(grant.acquiredAt(), grant.expiresAt().orElseThrow());
        }
    }

    @org.springframework.context.annotation.Configuration(proxyBeanMethods = false)
    @Import(Backup.class)
    static class Configuration {}

    static class Backup {

        @WithPermits("configured")
        void run() {}

        @WithPermits(names = "configured", waitTime = "0s")
        void runAtOnce() {}
    }
}
