package io.dbsemaphore.boot.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.StatementGate;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads that are interrupted while they wait, for a thread of their own instance or for another instance. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InterruptedLockIntegrationTests extends LockRegistryFixture {

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void endTheirWaitWhereTheyMay(boolean sameInstance) throws Exception {
        Lock held = (sameInstance ? registry : other).obtain(key);
        held.lock();
        Lock lock = registry.obtain(key);

        for (boolean timed : new boolean[] {true, false}) {
            Waiting waiting = new Waiting(() -> {
                assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> {
                    if (timed) {
                        boolean unused = lock.tryLock(1, TimeUnit.MINUTES);
                    } else {
                        lock.lockInterruptibly();
                    }
                });
                assertThat(Thread.currentThread().isInterrupted()).isEqualTo(false);
                assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
            });
            waiting.interrupt();
            waiting.end();
        }

        held.unlock();
        assertThat(lock.tryLock()).isEqualTo(true);
        lock.unlock();
    }

    /** The database is about to refuse them: that is awaited, and ends the wait. */
    @Test
    void endTheirWaitDuringADecision() throws Exception {
        other.obtain(key).lock();
        Lock lock = registry.obtain(key);
        StatementGate.Pause refusing = node.gate().pauseBefore("commit");
        Waiting waiting = new Waiting(() -> assertThatExceptionOfType(InterruptedException.class)
                .isThrownBy(() -> lock.tryLock(1, TimeUnit.MINUTES)));
        refusing.awaitReached(Duration.ofSeconds(30));

        waiting.interrupt();
        Awaitility.await("it has noticed").until(() -> !waiting.thread.get().isInterrupted());
        refusing.open();

        waiting.end();
        other.obtain(key).unlock();
        assertThat(lock.tryLock()).isEqualTo(true);
        lock.unlock();
    }

    /** The database is about to refuse them: {@code lock()} begins once more. */
    @Test
    void goOnWaitingInLockAfterADecision() throws Exception {
        Lock held = other.obtain(key);
        held.lock();
        Lock lock = registry.obtain(key);
        StatementGate.Pause refusing = node.gate().pauseBefore("commit");
        Waiting waiting = new Waiting(() -> {
            lock.lock();
            assertThat(Thread.currentThread().isInterrupted()).isEqualTo(true);
            assertThat(holders(key)).hasSize(1);
            lock.unlock();
        });
        refusing.awaitReached(Duration.ofSeconds(30));

        waiting.interrupt();
        Awaitility.await("it has noticed").until(() -> !waiting.thread.get().isInterrupted());
        refusing.open();
        Concurrently.assertWaits(waiting.future);

        held.unlock();

        waiting.end();
        assertThat(holders(key)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void goOnWaitingInLock(boolean sameInstance) throws Exception {
        Lock held = (sameInstance ? registry : other).obtain(key);
        held.lock();
        Lock lock = registry.obtain(key);
        Waiting waiting = new Waiting(() -> {
            lock.lock();
            assertThat(Thread.currentThread().isInterrupted()).isEqualTo(true);
            assertThat(holders(key)).hasSize(1);
            lock.unlock();
            assertThat(Thread.currentThread().isInterrupted()).isEqualTo(true);
        });
        waiting.interrupt();
        waiting.interrupt();
        Concurrently.assertWaits(waiting.future);

        held.unlock();

        waiting.end();
        assertThat(holders(key)).isEmpty();
    }

    @Test
    void acquireAFreeLockWithTheirFlagSet() throws Exception {
        Lock lock = registry.obtain(key);
        Concurrently.get(Concurrently.async(() -> {
            Thread.currentThread().interrupt();
            assertThat(lock.tryLock()).isEqualTo(true);
            lock.lock();
            lock.unlock();
            lock.unlock();
            assertThat(Thread.interrupted()).isEqualTo(true);

            Thread.currentThread().interrupt();
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(lock::lockInterruptibly);
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> lock.tryLock(0, TimeUnit.SECONDS));
            return null;
        }));

        assertThat(holders(key)).isEmpty();
    }

    /** A thread that waits for a lock. */
    private static final class Waiting {

        private final AtomicReference<Thread> thread = new AtomicReference<>();
        private final Future<?> future;

        Waiting(Runnable work) throws InterruptedException {
            CountDownLatch begun = new CountDownLatch(1);
            future = Concurrently.async(() -> {
                thread.set(Thread.currentThread());
                begun.countDown();
                work.run();
                return null;
            });
            begun.await();
        }

        /** Interrupts it while it waits. */
        void interrupt() {
            Awaitility.await("it waits")
                    .until(() -> !thread.get().isInterrupted()
                            && (thread.get().getState() == Thread.State.TIMED_WAITING
                                    || thread.get().getState() == Thread.State.WAITING));
            thread.get().interrupt();
        }

        void end() throws Exception {
            Concurrently.get(future);
        }
    }
}
