package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.concurrent.DaemonThreads;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When a second worker begins a batch while the first is busy. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BatchWorkersTests {

    private static final Duration LONG = Duration.ofMillis(20);

    @Test
    void aSecondBatchBeginsWhenTheFirstTakesLong() throws InterruptedException {
        assertThat(shortestTimeToSecondBatch(false)).isGreaterThanOrEqualTo(LONG);
    }

    @Test
    void aSecondBatchThatIsWorthItBeginsAtOnce() throws InterruptedException {
        assertThat(shortestTimeToSecondBatch(true)).isLessThan(LONG);
    }

    /** Of several attempts, since a thread may have to wait for a processor. */
    private static Duration shortestTimeToSecondBatch(boolean worthIt) throws InterruptedException {
        LongStream.Builder nanos = LongStream.builder();
        for (int i = 0; i < 10; i++) {
            nanos.add(nanosToSecondBatch(worthIt));
        }
        return Duration.ofNanos(nanos.build().min().getAsLong());
    }

    private static long nanosToSecondBatch(boolean worthIt) throws InterruptedException {
        AtomicInteger work = new AtomicInteger(1);
        CountDownLatch first = new CountDownLatch(1);
        CountDownLatch both = new CountDownLatch(2);
        BatchWorkers workers = new BatchWorkers(
                new DaemonThreads(),
                "test-workers",
                2,
                () -> work.get() > 0 ? 0 : Long.MAX_VALUE,
                running -> worthIt && running == 1,
                () -> {
                    work.decrementAndGet();
                    first.countDown();
                    both.countDown();
                    awaitQuietly(both);
                });
        try (workers) {
            workers.start();
            awaitQuietly(first);
            long start = System.nanoTime();
            work.incrementAndGet();
            workers.signal();
            awaitQuietly(both);
            return System.nanoTime() - start;
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }
}
