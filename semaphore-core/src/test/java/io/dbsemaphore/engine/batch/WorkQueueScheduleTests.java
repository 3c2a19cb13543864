package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.rerun.Promise;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The queue against a simple model, without threads, clock or database: random schedules of acquires, batches and their
 * failures, releases, polls and callers that leave. A schedule that fails is shrunk, and its text is part of the message:
 * {@code -Dsemaphore.test.schedule="…"} repeats it, {@code -Dsemaphore.test.seed=…} begins with another schedule. Written by
 * hand instead of with jqwik or Lincheck: the queue has no threads of its own, a schedule is a list of steps whose text is its
 * own replay, and shrinking drops steps.
 */
@Promise
class WorkQueueScheduleTests {

    private static final int SCHEDULES = Integer.getInteger("semaphore.test.schedules", 2_000);
    private static final int STEPS = 80;

    @Test
    void doesWhatTheModelDoesInRandomSchedules() {
        String given = System.getProperty("semaphore.test.schedule");
        if (given != null) {
            check(QueueSchedule.parse(given), "The given schedule");
            return;
        }
        long seed = Long.getLong("semaphore.test.seed", System.nanoTime());
        for (int i = 0; i < SCHEDULES; i++) {
            check(QueueSchedule.random(seed + i, STEPS), "Seed " + (seed + i));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {QueueSchedule.WITH_SHARES, QueueSchedule.WITH_SHARES_APART, QueueSchedule.WITH_OTHERS})
    void doesWhatTheModelDoesWhereCallersHaveShares(int kind) {
        long seed = Long.getLong("semaphore.test.seed", System.nanoTime());
        for (int i = 0; i < SCHEDULES; i++) {
            check(QueueSchedule.random(seed + i, STEPS, kind), "Seed " + (seed + i));
        }
    }

    @Test
    void repeatsAScheduleFromItsText() {
        QueueSchedule schedule = QueueSchedule.random(1, STEPS);

        assertThat(events(QueueSchedule.parse(schedule.toString()))).isEqualTo(events(schedule));
    }

    private static String events(QueueSchedule schedule) {
        QueueScheduleRun run = new QueueScheduleRun(schedule);
        run.run();
        return String.join("\n", run.events());
    }

    private static void check(QueueSchedule schedule, String origin) {
        if (failure(schedule) != null) {
            String kind = kind(failure(schedule));
            Predicate<QueueSchedule> sameKind = each -> kind.equals(kind(failure(each)));
            QueueSchedule least = schedule.shrunk(sameKind);
            QueueScheduleRun run = new QueueScheduleRun(least);
            try {
                run.run();
            } catch (RuntimeException | AssertionError failure) {
                throw new AssertionError(
                        "%s fails. Repeat with -Dsemaphore.test.schedule=\"%s\"%n%s%n%s"
                                .formatted(origin, least, lastEvents(run), failure.getMessage()),
                        failure);
            }
            throw new AssertionError("Not repeatable: " + least);
        }
    }

    private static String lastEvents(QueueScheduleRun run) {
        List<String> events = run.events();
        return String.join("\n", events.subList(Math.max(0, events.size() - 25), events.size()));
    }

    private static @Nullable Throwable failure(QueueSchedule schedule) {
        try {
            new QueueScheduleRun(schedule).run();
            return null;
        } catch (RuntimeException | AssertionError failure) {
            return failure;
        }
    }

    /** Where it was found, so that a shrunk schedule fails for the same reason. */
    private static String kind(@Nullable Throwable failure) {
        if (failure == null) {
            return "";
        }
        for (StackTraceElement element : failure.getStackTrace()) {
            if (element.getClassName().startsWith("io.dbsemaphore") && !"require".equals(element.getMethodName())) {
                return failure.getClass() + element.getClassName() + element.getLineNumber();
            }
        }
        return failure.getClass().toString();
    }
}
