package io.dbsemaphore.boot.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.boot.mutex.MutexRequests;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TcpProxy;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.integration.support.locks.DistributedLock;

/** Locks of an instance that loses its database. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LockWithoutDatabaseIntegrationTests extends LockRegistryFixture {

    private static final Duration SOON = Duration.ofSeconds(20);

    private final TcpProxy proxy = schema.newProxy();
    private final Node remote = Node.behind(proxy, schema, 4, TestSettings.limits(1, 5, 2));
    private final SemaphoreLockRegistry locks =
            new SemaphoreLockRegistry(remote.semaphores(), remote.admin(), new MutexRequests(PREFIX, TTL, false), 1);

    @AfterEach
    void close() {
        proxy.refuse(false);
        remote.close();
        proxy.close();
    }

    @Test
    void obtainNeedsNoDatabase() {
        create(key);
        Lock used = locks.obtain(key);
        used.lock();
        used.unlock();
        loseDatabase();

        assertThatCode(() -> locks.obtain(key + 2)).doesNotThrowAnyException();
    }

    @Test
    void tryLockSaysThatTheDatabaseFails() {
        create(key);
        loseDatabase();

        assertThatExceptionOfType(CannotAcquireLockException.class)
                .isThrownBy(locks.obtain(key)::tryLock)
                .withMessageContaining(key);
        assertThatExceptionOfType(CannotAcquireLockException.class)
                .isThrownBy(() -> locks.obtain(key).tryLock(1, TimeUnit.SECONDS))
                .withMessageContaining(key);
        assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(locks.obtain(key)::unlock);
    }

    @Test
    void lockWaitsForTheDatabase() throws Exception {
        create(key);
        loseDatabase();

        Future<?> locked = Concurrently.async(() -> {
            locks.obtain(key).lock();
            locks.obtain(key).unlock();
            return null;
        });
        Concurrently.assertWaits(locked);

        proxy.refuse(false);
        Concurrently.get(locked);
    }

    @Test
    void anInterruptEndsTheWaitForTheDatabase() throws Exception {
        create(key);
        loseDatabase();
        CompletableFuture<Thread> waiting = new CompletableFuture<>();

        Future<?> interrupted = Concurrently.async(() -> {
            waiting.complete(Thread.currentThread());
            return assertThatExceptionOfType(InterruptedException.class)
                    .isThrownBy(locks.obtain(key)::lockInterruptibly);
        });
        Concurrently.assertWaits(interrupted);
        waiting.join().interrupt();

        Concurrently.get(interrupted);
    }

    /** The release goes on in the background. */
    @Test
    void unlockGivesTheLockUp() {
        create(key);
        DistributedLock lock = locks.obtain(key);
        lock.lock();
        loseDatabase();

        lock.unlock();
        assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);

        proxy.refuse(false);
        Awaitility.await().atMost(SOON).until(() -> holders(key).isEmpty());
        assertThat(other.obtain(key).tryLock()).isEqualTo(true);
        other.obtain(key).unlock();
    }

    /** Its node makes no semaphores. */
    private static void create(String key) {
        node.admin().create(PREFIX + key, 1);
    }

    private void loseDatabase() {
        proxy.refuse(true);
        proxy.cutAll();
    }
}
