package io.dbsemaphore.engine.quota;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

/** An orderly shutdown gives all idle permits back: the next instance finds every one of them. */
@Slow
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReuseShutdownIntegrationTests extends ReuseFixture {

    private static final int NAMES = 64;
    private static final int PERMITS_OF_EACH = 32;
    private static final int THREADS = 32;

    private static final Duration QUICK = Duration.ofSeconds(9);

    private final List<String> names = IntStream.range(0, NAMES)
            .mapToObj(i -> cluster.semaphore(PERMITS_OF_EACH))
            .toList();
    private final Logger logger = (Logger) LoggerFactory.getLogger("io.dbsemaphore");
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void recordTheLog() {
        log.start();
        logger.addAppender(log);
    }

    @AfterEach
    void stopRecording() {
        logger.detachAppender(log);
    }

    @Test
    void aCloseGivesEveryIdlePermitBackAndTheNextInstanceIsNotRefused() throws Exception {
        for (int round = 0; round < 6; round++) {
            Node next = Node.on(cluster.schema(), settings(REUSE));
            try {
                leaveIdle(acquireEverything(next));
            } finally {
                shutDown(next::close);
            }
        }
    }

    @Test
    void aStopGivesEveryIdlePermitBackAndAStartIsNotRefused() throws Exception {
        try (Node stopped = Node.on(cluster.schema(), settings(REUSE))) {
            for (int round = 0; round < 2; round++) {
                leaveIdle(acquireEverything(stopped));
                shutDown(stopped::stop);
                stopped.start();
            }
        }
    }

    /** Acquires all permits of all semaphores on many threads, without a wait time. */
    private List<List<PermitGrant>> acquireEverything(Node by) throws Exception {
        List<Future<List<PermitGrant>>> threads = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
            threads.add(Concurrently.async(() -> names.stream()
                    .map(each ->
                            by.semaphores().tryAcquire(AcquireRequest.of(each).withKeepAlive(true)))
                    .flatMap(Optional::stream)
                    .toList()));
        }
        List<List<PermitGrant>> grants = new ArrayList<>();
        for (Future<List<PermitGrant>> thread : threads) {
            grants.add(Concurrently.get(thread));
        }
        assertThat(grants.stream().mapToInt(List::size).sum())
                .as("granted of what is free")
                .isEqualTo(NAMES * PERMITS_OF_EACH);
        return grants;
    }

    private void leaveIdle(List<List<PermitGrant>> grants) throws Exception {
        List<Future<Boolean>> threads = grants.stream()
                .map(each -> Concurrently.async(() -> {
                    each.forEach(PermitGrant::release);
                    return true;
                }))
                .toList();
        for (Future<Boolean> thread : threads) {
            Concurrently.get(thread);
        }
        assertThat(held()).as("idle permits").isGreaterThan(1000);
    }

    private void shutDown(Runnable shutdown) {
        log.list.clear();
        long begin = System.nanoTime();
        shutdown.run();
        Duration took = Duration.ofNanos(System.nanoTime() - begin);

        assertThat(held()).as("held after the shutdown").isZero();
        assertThat(took).isLessThan(QUICK);
        assertThat(log.list)
                .filteredOn(event -> event.getLevel().isGreaterOrEqual(Level.WARN))
                .hasSizeLessThanOrEqualTo(1);
    }

    /** In one statement: permits that are idle for long go back meanwhile. */
    private static long held() {
        Long held = cluster.schema()
                .jdbc()
                .queryForObject("select coalesce(sum(count), 0) from permit where state = 'ACQUIRED'", Long.class);
        return Objects.requireNonNull(held);
    }
}
