package io.dbsemaphore.boot.integration;

import static io.dbsemaphore.testing.Concurrently.async;
import static io.dbsemaphore.testing.Concurrently.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.dbsemaphore.SemaphoreClosedException;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.integration.support.locks.DistributedLock;

/**
 * What users of Spring Integration's {@code JdbcLockRegistry} rely on. The scenarios are those of its own tests, which are not
 * published as a library.
 *
 * @see <a href=
 *     "https://github.com/spring-projects/spring-integration/tree/main/spring-integration-jdbc/src/test/java/org/springframework/integration/jdbc/lock">
 *     JdbcLockRegistryTests and JdbcLockRegistryDifferentClientTests</a>
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SemaphoreLockRegistryIntegrationTests extends LockRegistryFixture {

    @Test
    void locksAreSemaphoresWithOnePermit() throws Exception {
        for (int i = 0; i < 3; i++) {
            Lock lock = registry.obtain(key);
            lock.lock();
            assertThat(holders(key))
                    .hasSize(1)
                    .allSatisfy(holder -> assertThat(holder.count()).isEqualTo(1));
            lock.unlock();
            lock.lockInterruptibly();
            assertThat(holders(key)).hasSize(1);
            lock.unlock();
            assertThat(holders(key)).isEmpty();
        }
        assertThat(node.admin().find(PREFIX + key))
                .hasValueSatisfying(status -> assertThat(status.capacity()).isEqualTo(1));
    }

    @Test
    void locksOfDifferentKeysAreIndependent() {
        Lock lock = registry.obtain(key);
        Lock another = registry.obtain(key + "!");

        lock.lock();
        another.lock();

        assertThat(holders(key)).hasSize(1);
        assertThat(holders(key + "!")).hasSize(1);
        another.unlock();
        lock.unlock();
    }

    /** Collations of databases compare some of them as equal, and names of semaphores are limited. */
    @Test
    void locksOfSimilarKeysAreIndependent() {
        String longKey = "x".repeat(300);
        List<String> keys = Stream.of(
                        "order",
                        "Order",
                        "\u00f6rder",
                        "o\u0308rder",
                        "order ",
                        "order\u00a0",
                        "\ud83d\ude00",
                        "\ud83d\ude01",
                        longKey,
                        longKey + " ",
                        "ss",
                        "\u00df",
                        "",
                        "%",
                        "_",
                        "'",
                        "\\")
                .map(each -> each.isEmpty() ? each : key + each)
                .toList();

        assertThat(keys).allMatch(each -> registry.obtain(each).tryLock());
        assertThat(keys).noneMatch(each -> other.obtain(each).tryLock());

        keys.forEach(each -> registry.obtain(each).unlock());
        assertThat(keys).allMatch(each -> other.obtain(each).tryLock());
        keys.forEach(each -> other.obtain(each).unlock());
    }

    @Test
    void aLockIsReentrantForItsThread() throws Exception {
        Lock lock = registry.obtain(key);
        assertThat(registry.obtain(key)).isSameAs(lock);

        lock.lock();
        lock.lockInterruptibly();
        assertThat(lock.tryLock()).isEqualTo(true);
        assertThat(lock.tryLock(1, TimeUnit.SECONDS)).isEqualTo(true);

        assertThat(holders(key)).hasSize(1);
        for (int left = 3; left > 0; left--) {
            lock.unlock();
            assertThat(other.obtain(key).tryLock()).as("%d times locked", left).isEqualTo(false);
        }
        lock.unlock();
        assertThat(holders(key)).isEmpty();
    }

    @Test
    void anotherThreadDoesNotGetTheLockAndCannotUnlockIt() throws Exception {
        Lock lock = registry.obtain(key);
        lock.lock();

        get(async(() -> {
            assertThat(lock.tryLock()).isEqualTo(false);
            assertThat(lock.tryLock(50, TimeUnit.MILLISECONDS)).isEqualTo(false);
            assertThatExceptionOfType(IllegalMonitorStateException.class)
                    .isThrownBy(lock::unlock)
                    .withMessageContaining("own")
                    .withMessageContaining(key);
            return null;
        }));

        assertThat(holders(key)).hasSize(1);
        lock.unlock();
    }

    @Test
    void anotherInstanceDoesNotGetTheLock() throws Exception {
        DistributedLock lock = other.obtain(key);
        registry.obtain(key).lock();

        assertThat(lock.tryLock()).isEqualTo(false);
        assertThat(lock.tryLock(0, TimeUnit.SECONDS)).isEqualTo(false);
        assertThat(lock.tryLock(-1, TimeUnit.SECONDS)).isEqualTo(false);
        assertThat(lock.tryLock(50, TimeUnit.MILLISECONDS)).isEqualTo(false);
        assertThat(lock.tryLock(Duration.ofMillis(50), SHORT)).isEqualTo(false);
        assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);

        registry.obtain(key).unlock();
        assertThat(lock.tryLock(Long.MAX_VALUE, TimeUnit.DAYS)).isEqualTo(true);
        lock.unlock();
    }

    @Test
    void aLockIsUnlockedOnce() {
        Lock lock = registry.obtain(key);
        lock.lock();
        lock.unlock();

        assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);

        assertThat(other.obtain(key).tryLock()).isEqualTo(true);
        assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
        assertThat(holders(key)).hasSize(1);
        other.obtain(key).unlock();
    }

    /** An operator may raise the capacity of what is only a semaphore to the page. */
    @Test
    void thereIsOneHolderWhateverTheCapacity() {
        Lock lock = registry.obtain(key);
        lock.lock();
        node.admin().setCapacity(PREFIX + key, 3, "operator", "test");
        assertThat(other.obtain(key).tryLock()).isEqualTo(false);
        lock.unlock();
        lock.lock();

        assertThat(other.obtain(key).tryLock()).isEqualTo(false);
        lock.unlock();

        node.admin().setCapacity(PREFIX + key, 0, "operator", "test");
        assertThat(lock.tryLock()).as("paused").isEqualTo(false);
    }

    @Test
    void aLockThatAnOperatorReleasedIsReported() {
        Lock lock = registry.obtain(key);
        lock.lock();
        node.admin().forceRelease(holders(key).get(0).externalId(), "operator", "test");

        assertThatExceptionOfType(ConcurrentModificationException.class).isThrownBy(lock::unlock);
    }

    @Test
    void aFailureSaysWhichLockAndLeavesItUsable() {
        Lock lock = registry.obtain(key);
        node.stop();
        try {
            assertThatExceptionOfType(CannotAcquireLockException.class)
                    .isThrownBy(lock::lock)
                    .withMessageContaining(key)
                    .withCauseInstanceOf(SemaphoreClosedException.class);
            assertThatExceptionOfType(CannotAcquireLockException.class).isThrownBy(lock::tryLock);
        } finally {
            node.start();
        }

        assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
        assertThat(lock.tryLock()).isEqualTo(true);
        lock.unlock();
    }

    @Test
    void refusesWhatItDoesNotSupport() {
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> registry.obtain(key).newCondition());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> registry.obtain(7))
                .withMessageContaining("7");
    }
}
