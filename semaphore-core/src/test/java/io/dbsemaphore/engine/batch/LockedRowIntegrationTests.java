package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.RowLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.dao.DataAccessException;

/** A session outside of the library has locked the row of one semaphore, and callers want it. */
@Slow
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LockedRowIntegrationTests {

    private static final int CALLERS = 4;
    private static final int ROUNDS = 8;
    private static final Duration ROUND = Duration.ofMillis(700);
    /** A worker that waited only every 20 ms made it three. Where statements are sent one by one, one worker less is felt more. */
    private static final double MAX_SLOWDOWN = TestDatabase.kind() == DatabaseKind.MARIADB ? 2 : 1.3;

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private final Node node = cluster.node(0);
    private final String locked = cluster.semaphore(1);
    private final List<String> others =
            IntStream.range(0, CALLERS).mapToObj(i -> cluster.semaphore(1)).toList();

    @Measured
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
    @Test
    void callersOfOtherSemaphoresAreNotDelayed() throws Exception {
        List<Long> without = new ArrayList<>();
        List<Long> with = new ArrayList<>();
        measure(new ArrayList<>()); // compiles
        for (int round = 0; round < ROUNDS; round++) {
            measure(without);
            AtomicBoolean ended = new AtomicBoolean();
            Future<?> caller;
            try (RowLock lock = RowLock.ofSemaphore(cluster.schema(), locked)) {
                caller = Concurrently.async(() -> {
                    while (!ended.get()) {
                        wantsTheLockedOne();
                    }
                    return null;
                });
                Thread.sleep(100); // its batch waits for the row
                measure(with);
                ended.set(true);
            }
            Concurrently.get(caller);
        }

        String seen = "median with a locked row %d us, without %d us".formatted(median(with), median(without));
        System.getLogger("locked row").log(System.Logger.Level.INFO, seen);
        Measurement.check(() ->
                assertThat((double) median(with) / median(without)).as(seen).isLessThan(MAX_SLOWDOWN));
    }

    private void wantsTheLockedOne() {
        try {
            var unused = node.semaphores().tryAcquire(AcquireRequest.of(locked)).map(grant -> grant.release());
        } catch (DataAccessException stillLocked) {
            // as expected
        }
    }

    /** Adds the duration of each acquire in microseconds. */
    private void measure(List<Long> durations) {
        Concurrently.call(CALLERS, Duration.ofSeconds(30), index -> {
                    List<Long> own = new ArrayList<>();
                    long end = System.nanoTime() + ROUND.toNanos();
                    while (System.nanoTime() < end) {
                        long begin = System.nanoTime();
                        var grant = node.semaphores()
                                .acquire(AcquireRequest.of(others.get(index)).withWaitTime(Duration.ofSeconds(5)));
                        own.add((System.nanoTime() - begin) / 1_000);
                        grant.release();
                    }
                    return own;
                })
                .forEach(durations::addAll);
    }

    private static long median(List<Long> values) {
        return values.stream().sorted().skip(values.size() / 2).findFirst().orElseThrow();
    }
}
