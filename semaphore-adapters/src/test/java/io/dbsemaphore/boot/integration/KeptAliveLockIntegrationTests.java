package io.dbsemaphore.boot.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.boot.mutex.MutexRequests;
import io.dbsemaphore.config.HostTransaction;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.transaction.IllegalTransactionStateException;

/** Locks that are renewed until they are released, and what the settings of the semaphores mean for locks. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KeptAliveLockIntegrationTests extends LockRegistryFixture {

    private static final Duration LONG = Duration.ofSeconds(5);

    @Test
    void isRenewedBeyondTheMaximumHoldOfSemaphores() throws Exception {
        SemaphoreSettings settings = PATTERNS.with(SemaphoreSettings.MAX_HOLD, PerSemaphore.all(Duration.ofSeconds(2)));
        try (Node own = Node.on(schema, settings)) {
            DistributedLock lock = keptAlive(own, Duration.ofSeconds(10)).obtain(key);
            lock.lock();

            boolean taken = other.obtain(key).tryLock(14, TimeUnit.SECONDS);

            assertThat(taken).as("taken by another instance").isFalse();
            lock.unlock();
        }
    }

    @Test
    void isNotShortenedByEnteringItAgain() {
        DistributedLock lock = keptAlive(node, SHORT).obtain(key);
        lock.lock(LONG);
        Awaitility.await().pollDelay(LONG.minusMillis(500)).until(() -> true);

        lock.lock(SHORT);

        Instant expiry = holders(key).get(0).expiresAt().orElseThrow();
        assertThat(Duration.between(node.admin().now(), expiry)).isGreaterThan(SHORT.plusMillis(500));
        lock.unlock();
        lock.unlock();
    }

    @Test
    void saysThatATransactionIsOpenWhereThatIsRefused() {
        SemaphoreSettings settings = PATTERNS.with(SemaphoreSettings.HOST_TRANSACTION, HostTransaction.REFUSE);
        try (Node own = Node.on(schema, settings)) {
            DistributedLock lock = keptAlive(own, LONG).obtain(key);

            assertThatThrownBy(() -> own.transaction().executeWithoutResult(status -> lock.lock()))
                    .isInstanceOf(CannotAcquireLockException.class)
                    .hasMessageContaining(key)
                    .hasCauseInstanceOf(IllegalTransactionStateException.class);

            lock.lock();
            lock.unlock();
        }
    }

    private static SemaphoreLockRegistry keptAlive(Node of, Duration ttl) {
        return new SemaphoreLockRegistry(of.semaphores(), of.admin(), new MutexRequests(PREFIX, ttl, true), 5);
    }
}
