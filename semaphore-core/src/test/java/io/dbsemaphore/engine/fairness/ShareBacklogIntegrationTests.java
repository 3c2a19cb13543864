package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.ChildJvm;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.rerun.Promise;
import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A key with few callers beside a large backlog in other processes. How long the key is idle is a system property; a minute by hand:
 *
 * <pre>{@code
 * mvn verify -pl semaphore-core -Dtest=NONE -Dsurefire.failIfNoSpecifiedTests=false -Dit.test=ShareBacklogIntegrationTests \
 *     -DargLine=-Dsemaphore.test.share-idle-seconds=60
 * }</pre>
 */
@Measured
@Promise
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ShareBacklogIntegrationTests {

    private static final Duration IDLE = Duration.ofSeconds(Integer.getInteger("semaphore.test.share-idle-seconds", 5));

    private ShareProcesses started;

    @BeforeEach
    void start() {
        started = new ShareProcesses();
    }

    @AfterEach
    void stop() {
        started.close();
    }

    /**
     * While both keys wait: a permit is released only while the database knows of a waiting caller of each. The caller of the small key
     * has always joined anew before that, in the other process.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 10})
    void oneCallerHasAsManyGrantsAsAThousandOfAnotherKey(int capacity) {
        List<ChildJvm> processes = started.start(2);
        ProcessCallers line = new ProcessCallers(started, processes, capacity);
        line.joinAll(processes.get(0), 500, "big").joinAll(processes.get(1), 500, "big");
        for (int i = 0; i < 200; i++) {
            int small = Collections.frequency(line.served(), "small");
            if (i == 0 || line.served().get(i - 1).equals("small")) {
                line.join(processes.get(small % 2), "small");
            }
            line.serve(1);
        }

        line.assertByTheRules();
        Measurement.check(() -> {
            for (int end = 1; end <= 200; end++) {
                List<String> beginning = line.served().subList(0, end);
                int small = Collections.frequency(beginning, "small");
                assertThat(Math.abs(end - 2 * small))
                        .as("difference of the grants in %s", beginning)
                        .isLessThanOrEqualTo(1);
            }
            ProcessCallers.assertShared(line.served(), List.of("big", "small"));
        });
    }

    /** Ten keys of a thousand callers each have their turns meanwhile. The key has been granted permits before. */
    @Slow
    @Test
    void aKeyThatReturnsBesideTenThousandCallersWaitsForOneRound() {
        List<ChildJvm> processes = started.start(3);
        ProcessCallers line = new ProcessCallers(started, processes, 1);
        for (int key = 0; key < 10; key++) {
            line.joinAll(processes.get(key % 3), 500, "k" + key).joinAll(processes.get((key + 1) % 3), 500, "k" + key);
        }
        IntStream.range(0, 5).forEach(i -> line.join(processes.get(i % 3), "returns"));
        line.serve(55);
        assertThat(line.served()).contains("returns");
        for (long end = System.nanoTime() + IDLE.toNanos(); System.nanoTime() < end; ) {
            line.serve(1);
        }

        int before = line.served().size();
        IntStream.range(0, 5).forEach(i -> line.join(processes.get(i % 3), "returns"));
        line.serve(55);

        List<String> order = line.served().subList(before, before + 55);
        line.assertByTheRules();
        Measurement.check(() -> {
            assertThat(before).as("grants until the key returned").isGreaterThan(100);
            List<String> ahead = order.subList(0, order.indexOf("returns"));
            assertThat(new HashSet<>(ahead))
                    .as("one grant of each, in %s", ahead)
                    .hasSameSizeAs(ahead);
            assertThat(Collections.frequency(order, "returns"))
                    .as("in %s", order)
                    .isEqualTo(5);
        });
    }
}
