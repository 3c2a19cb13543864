package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.testing.rerun.Promise;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.IllegalTransactionStateException;

/** On a real database: nothing is committed on a permit that was taken away. */
@Promise
class RequireHeldIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);

    private static RealHost host;
    private static long orders;

    private PermitGrant grant;
    private int ordersBefore;

    @BeforeAll
    static void start() {
        host = new RealHost();
    }

    @AfterAll
    static void stop() {
        host.close();
    }

    @BeforeEach
    void acquire() {
        grant = host.semaphores().acquire(AcquireRequest.of("orders"));
        ordersBefore = host.committedOrders();
    }

    @AfterEach
    void release() {
        grant.close();
        assertThat(host.heldPermits()).isZero();
    }

    @Test
    void letsATransactionCommitWhosePermitIsHeld() {
        host.transaction().executeWithoutResult(status -> {
            host.semaphores().requireHeld(grant);
            host.save(++orders);
        });

        assertThat(host.committedOrders()).isEqualTo(ordersBefore + 1);
    }

    @Test
    void failsWhereThePermitWasForcedAwayBefore() {
        host.admin().forceRelease(grant.externalId(), "ops", "stuck");

        assertThatExceptionOfType(PermitLostException.class)
                .isThrownBy(() -> host.transaction().executeWithoutResult(status -> {
                    host.save(++orders);
                    host.semaphores().requireHeld(grant);
                }));

        assertThat(host.committedOrders()).isEqualTo(ordersBefore);
    }

    @Test
    void holdsBackAForcedReleaseUntilTheTransactionHasCommitted() throws Exception {
        CompletableFuture<Integer> ordersAtRelease = new CompletableFuture<>();

        host.transaction().executeWithoutResult(status -> {
            host.semaphores().requireHeld(grant);
            host.save(++orders);
            CompletableFuture.runAsync(() -> {
                        host.admin().forceRelease(grant.externalId(), "ops", "stuck");
                        ordersAtRelease.complete(host.committedOrders());
                    })
                    .exceptionally(failure -> {
                        ordersAtRelease.completeExceptionally(failure);
                        return null;
                    });
            await().during(Duration.ofSeconds(1)).atMost(SOON).until(() -> !ordersAtRelease.isDone());
            assertThat(host.heldPermits()).isEqualTo(1);
        });

        assertThat(ordersAtRelease.get(20, TimeUnit.SECONDS)).isEqualTo(ordersBefore + 1);
    }

    @Test
    void holdsBackAForcedReleaseUntilTheTransactionHasRolledBack() throws Exception {
        CompletableFuture<ReleaseOutcome> forced = new CompletableFuture<>();

        host.transaction().executeWithoutResult(status -> {
            host.semaphores().requireHeld(grant);
            forced.completeAsync(() -> host.admin().forceRelease(grant.externalId(), "ops", "stuck"));
            await().during(Duration.ofSeconds(1)).atMost(SOON).until(() -> !forced.isDone());
            status.setRollbackOnly();
        });

        assertThat(forced.get(20, TimeUnit.SECONDS)).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    void defersAReleaseFromWithinTheTransaction() {
        host.transaction().executeWithoutResult(status -> {
            host.semaphores().requireHeld(grant);

            assertThat(grant.release()).isEqualTo(ReleaseOutcome.DEFERRED);

            assertThat(host.heldPermits()).isEqualTo(1);
            host.save(++orders);
        });

        await().atMost(SOON).until(() -> host.heldPermits() == 0);
        assertThat(host.committedOrders()).isEqualTo(ordersBefore + 1);
    }

    @Test
    void defersAReleaseByExternalIdFromWithinTheTransaction() {
        host.transaction().executeWithoutResult(status -> {
            host.semaphores().requireHeld(grant);

            assertThat(host.semaphores().release(grant.externalId())).isEqualTo(ReleaseOutcome.DEFERRED);

            assertThat(host.heldPermits()).isEqualTo(1);
            status.setRollbackOnly();
        });

        await().atMost(SOON).until(() -> host.heldPermits() == 0);
    }

    @Test
    void needsATransaction() {
        assertThatExceptionOfType(IllegalTransactionStateException.class)
                .isThrownBy(() -> host.semaphores().requireHeld(grant));
    }
}
