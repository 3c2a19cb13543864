package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

/** On a real database: the transaction of a guarded method is inside of its permits, not around them. */
class WithPermitsTransactionIntegrationTests {

    private RealHost host;

    @AfterEach
    void stop() {
        host.close();
    }

    @Test
    void acquiresBeforeTheTransactionBeginsAndReleasesAfterItsCommit() {
        host = new RealHost(TransactionWitness.class);

        host.orders().placeUnderPermit(1, "Ada");

        assertThat(host.context.getBean(TransactionWitness.class).seen())
                .containsExactly("begins: 1 held, 0 orders", "committed: 1 held, 1 orders");
        assertThat(host.heldPermits()).isZero();
    }

    @Test
    void releasesAfterTheRollback() {
        host = new RealHost(TransactionWitness.class);
        host.database.jdbc().update("insert into customer_order (id, customer_name) values (1, 'Eve')");

        assertThatExceptionOfType(DataIntegrityViolationException.class)
                .isThrownBy(() -> host.orders().insertUnderPermit(1, "Ada"));

        assertThat(host.context.getBean(TransactionWitness.class).seen())
                .containsExactly("begins: 1 held, 1 orders", "rolled back: 1 held, 1 orders");
        assertThat(host.heldPermits()).isZero();
    }

    @Test
    void showsWhatWasCommittedToWhoeverGetsThePermitNext() throws Exception {
        host = new RealHost(SlowCommit.class);
        SlowCommit slow = host.context.getBean(SlowCommit.class);
        CompletableFuture<Void> placing =
                CompletableFuture.runAsync(() -> host.orders().placeUnderPermit(1, "Ada"));
        assertThat(slow.aboutToCommit.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(host.semaphores().tryAcquire(AcquireRequest.of("orders"))).isEmpty();
        CompletableFuture<Integer> next = CompletableFuture.supplyAsync(() -> {
            try (PermitGrant grant =
                    host.semaphores().acquire(AcquireRequest.of("orders").withWaitTime(Duration.ofSeconds(20)))) {
                return host.committedOrders();
            }
        });

        slow.mayCommit.countDown();

        assertThat(next.get(20, TimeUnit.SECONDS)).isEqualTo(1);
        placing.get(60, TimeUnit.SECONDS);
    }

    @Test
    void beginsNoTransactionWithoutAPermit() {
        host = new RealHost(TransactionWitness.class);
        host.semaphores().acquire(AcquireRequest.of("orders"));

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> host.orders().placeUnderPermit(1, "Ada"));

        assertThat(host.context.getBean(TransactionWitness.class).seen()).isEmpty();
    }

    /** Stops the first transaction of the application before its commit. */
    static class SlowCommit implements TransactionExecutionListener {

        private final CountDownLatch aboutToCommit = new CountDownLatch(1);
        private final CountDownLatch mayCommit = new CountDownLatch(1);

        @Override
        public void beforeCommit(TransactionExecution transaction) {
            aboutToCommit.countDown();
            try {
                if (!mayCommit.await(20, TimeUnit.SECONDS)) {
                    throw new IllegalStateException("nobody let it commit");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }
    }
}
