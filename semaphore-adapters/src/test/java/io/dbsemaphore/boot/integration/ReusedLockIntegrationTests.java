package io.dbsemaphore.boot.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.boot.mutex.MutexRequests;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Locks whose semaphores have a reuse time: an instance keeps a lock that it locks again and again until another one wants it. */
class ReusedLockIntegrationTests {

    private static final String PREFIX = "lock:";

    private final Schema schema = TestDatabase.create().migrate();
    private final Node node = Node.on(schema, settings());
    private final Node otherNode = Node.on(schema, settings());

    private static SemaphoreSettings settings() {
        return TestSettings.defaults()
                .withPattern(PREFIX + "*", 1)
                .with(SemaphoreSettings.MAX_PATTERN_SEMAPHORES, 10_000)
                .with(
                        SemaphoreSettings.REUSE,
                        PerSemaphore.all(Duration.ZERO).with(PREFIX + "*", Duration.ofSeconds(2)));
    }

    @AfterEach
    void close() {
        otherNode.close();
        node.close();
        schema.close();
    }

    @Test
    void aLockIsLockedAgainAndAgainWithoutATransaction() {
        Lock lock = registry(node).obtain("account");
        lockAndUnlock(lock);
        node.gate().clear();

        for (int i = 0; i < 1_000; i++) {
            lockAndUnlock(lock);
        }

        assertThat(node.gate().statements())
                .noneMatch(
                        statement -> statement.contains("insert into permit") || statement.contains("update permit"));
    }

    @Test
    void anotherInstanceGetsTheLockThatThisOneKeeps() throws Exception {
        Lock lock = registry(node).obtain("account");
        lockAndUnlock(lock);

        Lock elsewhere = registry(otherNode).obtain("account");
        assertThat(elsewhere.tryLock(20, TimeUnit.SECONDS)).isTrue();
        try {
            assertThat(lock.tryLock()).isFalse();
        } finally {
            elsewhere.unlock();
        }
    }

    @Test
    void neverHaveTwoInstancesTheLock() {
        List<Lock> locks =
                List.of(registry(node).obtain("account"), registry(otherNode).obtain("account"));
        AtomicInteger holders = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();

        Concurrently.run(4, Duration.ofSeconds(120), thread -> {
            Lock lock = locks.get(thread % 2);
            for (int i = 0; i < 100; i++) {
                lock.lock();
                try {
                    most.accumulateAndGet(holders.incrementAndGet(), Math::max);
                    holders.decrementAndGet();
                } finally {
                    lock.unlock();
                }
            }
        });

        assertThat(most).hasValue(1);
    }

    private static void lockAndUnlock(Lock lock) {
        lock.lock();
        lock.unlock();
    }

    private static SemaphoreLockRegistry registry(Node of) {
        return new SemaphoreLockRegistry(
                of.semaphores(), of.admin(), new MutexRequests(PREFIX, Duration.ofSeconds(30), true), 256);
    }
}
