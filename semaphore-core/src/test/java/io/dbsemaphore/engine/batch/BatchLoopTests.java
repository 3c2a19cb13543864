package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BatchLoopTests {

    private final DatabaseThreads threads = new DatabaseThreads(4, new DaemonThreads());

    private final AtomicInteger work = new AtomicInteger();
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger peak = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private final Semaphore goOn = new Semaphore(0);
    private volatile long begins = System.nanoTime();

    private final BatchLoop loop = new BatchLoop(threads, 2, this::nanosToWork, this::batch);

    private long nanosToWork() {
        return work.get() == 0 ? Long.MAX_VALUE : begins - System.nanoTime();
    }

    private void batch() {
        work.decrementAndGet();
        peak.accumulateAndGet(running.incrementAndGet(), Math::max);
        try {
            goOn.acquireUninterruptibly();
        } finally {
            running.decrementAndGet();
            done.incrementAndGet();
        }
    }

    private void add() {
        work.incrementAndGet();
        loop.signal();
    }

    @AfterEach
    void end() {
        goOn.release(1_000);
        threads.stop();
    }

    @Measured
    @Test
    void shortBatchesRunOneAfterTheOther() {
        done.set(0);
        peak.set(0);
        goOn.release(100);
        for (int i = 0; i < 100; i++) {
            add();
        }

        await().until(() -> done.get() == 100);
        Measurement.check(() -> assertThat(peak).hasValue(1));
    }

    @Test
    void anotherOneBeginsBesideOneThatTakesLong() {
        add();
        add();
        add();

        await().until(() -> running.get() == 2);
        assertThat(work).as("at most two at a time").hasValue(1);
        goOn.release(3);
        await().until(() -> done.get() == 3);
        assertThat(peak).hasValue(2);
    }

    @Test
    void oneThatIsDueLaterBeginsThen() {
        goOn.release(1);
        begins = System.nanoTime() + Duration.ofMillis(200).toNanos();
        add();

        await().until(() -> done.get() == 1);
        assertThat(begins - System.nanoTime()).isNegative();
    }

    @Test
    void oneThatIsPostponedAgainBeginsThen() {
        goOn.release(2);
        AtomicInteger looks = new AtomicInteger();
        BatchLoop postponing = new BatchLoop(
                threads,
                2,
                () -> looks.incrementAndGet() < 4 ? 1_000_000 : work.get() == 0 ? Long.MAX_VALUE : 0,
                this::batch);
        work.incrementAndGet();
        postponing.signal();

        await().until(() -> done.get() == 1);
    }

    @Test
    void aBatchTakesItsTurnWithOtherWork() {
        DatabaseThreads one = new DatabaseThreads(1, new DaemonThreads()); // of two threads
        Semaphore occupied = new Semaphore(0);
        one.execute(occupied::acquireUninterruptibly);
        BatchLoop alone = new BatchLoop(one, 1, this::nanosToWork, this::batch);
        work.set(3);
        alone.signal();
        await().until(() -> running.get() == 1);
        AtomicInteger doneBefore = new AtomicInteger();
        one.execute(() -> doneBefore.set(done.get()));
        goOn.release(3);

        await().until(() -> done.get() == 3);
        occupied.release();
        assertThat(doneBefore).hasValue(1);
    }

    @Test
    void theNextBeginsAfterOneThatHasThrown() {
        AtomicInteger tried = new AtomicInteger();
        BatchLoop throwing = new BatchLoop(threads, 1, () -> tried.get() < 2 ? 0 : Long.MAX_VALUE, () -> {
            tried.incrementAndGet();
            throw new IllegalStateException("of a batch, to be survived");
        });
        throwing.signal();

        await().until(() -> tried.get() == 2);
    }
}
