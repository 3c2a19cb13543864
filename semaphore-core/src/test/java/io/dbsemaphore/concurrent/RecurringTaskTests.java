package io.dbsemaphore.concurrent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The thread of a recurring task runs while the task is needed, and survives its failures. */
class RecurringTaskTests {

    private static final long LATER = TimeUnit.HOURS.toNanos(1);

    private final AtomicLong nanosToNext = new AtomicLong(LATER);
    private final AtomicInteger runs = new AtomicInteger();
    private volatile boolean fails;
    private volatile Thread thread;

    private final RecurringTask recurring =
            new RecurringTask(new DaemonThreads(), "semaphore-recurring", Runnable::run, new RecurringTask.Task() {

                @Override
                public long nanosToNext() {
                    return nanosToNext.get();
                }

                @Override
                public void run() {
                    thread = Thread.currentThread();
                    nanosToNext.set(LATER);
                    runs.incrementAndGet();
                    if (fails) {
                        throw new IllegalStateException("on purpose");
                    }
                }
            });

    @AfterEach
    void close() {
        recurring.close();
    }

    @Test
    void runsWhenItIsDueAndWaitsUntilThen() {
        recurring.ensureRunning();
        becomesDue();

        await().untilAsserted(() -> assertThat(runs).hasValue(1));
    }

    @Test
    void goesOnAfterAFailureAndAnInterrupt() {
        fails = true;
        recurring.ensureRunning();
        becomesDue();
        await().untilAsserted(() -> assertThat(runs).hasValue(1));

        thread.interrupt();
        becomesDue();

        await().untilAsserted(() -> assertThat(runs).hasValue(2));
    }

    @Test
    void isWokenOnlyIfItWouldNotWakeInTimeByItself() {
        nanosToNext.set(TimeUnit.MINUTES.toNanos(1));
        recurring.ensureRunning();
        await().until(() -> Thread.getAllStackTraces().keySet().stream()
                .anyMatch(each ->
                        each.getName().equals("semaphore-recurring") && each.getState() == Thread.State.TIMED_WAITING));
        nanosToNext.set(0);

        recurring.wakeWithin(TimeUnit.MINUTES.toNanos(2));
        assertThat(runs).hasValue(0);

        recurring.wakeWithin(TimeUnit.SECONDS.toNanos(30));
        await().untilAsserted(() -> assertThat(runs).hasValue(1));
    }

    @Test
    void endsItsThreadWhenItIsNotNeededAndStartsAnotherOneWhenItIs() {
        recurring.ensureRunning();
        becomesDue();
        await().untilAsserted(() -> assertThat(runs).hasValue(1));
        Thread first = thread;
        nanosToNext.set(RecurringTask.NOT_NEEDED);
        recurring.wake();
        await().until(() -> !first.isAlive());

        nanosToNext.set(0);
        recurring.ensureRunning();

        await().untilAsserted(() -> assertThat(runs).hasValue(2));
        assertThat(thread).isNotSameAs(first);
    }

    @Test
    void endsItsThreadWhenItIsClosedAndStartsNoOther() {
        recurring.ensureRunning();
        becomesDue();
        await().untilAsserted(() -> assertThat(runs).hasValue(1));

        recurring.close();
        await().until(() -> !thread.isAlive());
        nanosToNext.set(0);
        recurring.ensureRunning();

        assertThat(runs).hasValue(1);
    }

    private void becomesDue() {
        nanosToNext.set(0);
        recurring.wake();
    }
}
