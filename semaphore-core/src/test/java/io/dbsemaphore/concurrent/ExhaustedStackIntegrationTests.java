package io.dbsemaphore.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestSettings;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Callers near the end of their stack, with more or less of it left: an acquire succeeds or throws the {@link
 * StackOverflowError}, and whatever happens, no other caller is affected and no connection is lost.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ExhaustedStackIntegrationTests {

    private static final long STACK_SIZE = 1_000_000;
    private static final int MOST_FRAMES_LEFT = 3_000;
    private static final int STEP = 60;
    private static final AcquireRequest A = AcquireRequest.of("a").withTtl(Duration.ofHours(1));

    private static final Duration REUSE = Duration.ofSeconds(10);
    private static final AcquireRequest REUSED =
            AcquireRequest.of("reused").withTtl(Duration.ofHours(1)).withKeepAlive(true);

    static List<AcquireRequest> requests() {
        return List.of(A, REUSED);
    }

    private final AtomicInteger succeeded = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private TestDatabase.Schema schema;
    private HikariDataSource pool;
    private SemaphoreEngine engine;
    private SemaphoreTemplate semaphores;

    @BeforeEach
    void begin() {
        schema = TestDatabase.create().migrate();
        pool = schema.newPool(4);
        engine = new SemaphoreEngine(
                pool,
                TestSettings.defaults()
                        .with(
                                SemaphoreSettings.REUSE,
                                PerSemaphore.all(Duration.ZERO).with("reused", REUSE)));
        semaphores = new SemaphoreTemplate(engine.permitManager());
        for (AcquireRequest each : List.of(A, REUSED)) {
            each.permits().keySet().forEach(name -> engine.admin().create(name, 1));
            semaphores.executeWithoutResult(each, grant -> {}); // classes that fail to initialize would never work
        }
    }

    @AfterEach
    void end() {
        engine.close();
        schema.close();
    }

    @ParameterizedTest
    @MethodSource("requests")
    void acquiresOfSuchCallersDisturbNobody(AcquireRequest request) throws Exception {
        withFramesLeft(framesLeft -> {
            AtomicReference<PermitGrant> held = new AtomicReference<>();
            int unused = descend(framesLeft, () -> {
                try {
                    Optional<PermitGrant> grant = semaphores.tryAcquire(request);
                    assertThat(grant).as("with %d frames left", framesLeft).isPresent();
                    held.set(grant.orElseThrow());
                    held.get().release();
                    succeeded.incrementAndGet();
                } catch (StackOverflowError tooDeep) {
                    refused.incrementAndGet(); // nothing is held, or what is held is released below
                }
            });
            if (held.get() != null) {
                held.get().release();
            }
        });

        assertThatAllIsAsBefore(request);
    }

    @ParameterizedTest
    @MethodSource("requests")
    void releasesOfSuchCallersDisturbNobody(AcquireRequest request) throws Exception {
        withFramesLeft(framesLeft -> {
            PermitGrant grant = semaphores.acquire(request.withWaitTime(Duration.ofSeconds(5)));
            int unused = descend(framesLeft, () -> {
                try {
                    grant.release();
                    succeeded.incrementAndGet();
                } catch (StackOverflowError tooDeep) {
                    refused.incrementAndGet(); // released below
                }
            });
            grant.release();
        });

        assertThatAllIsAsBefore(request);
    }

    /** The permit is handed to the caller that waits, or goes to it by way of the database. */
    @Test
    void releasesOfSuchCallersServeTheOneThatWaits() throws Exception {
        AcquireRequest request = REUSED.withWaitTime(Duration.ofSeconds(10));
        withFramesLeft(framesLeft -> {
            PermitGrant grant = semaphores.acquire(request);
            CompletableFuture<PermitGrant> waiting = semaphores.acquireAsync(request);
            int unused = descend(framesLeft, () -> {
                try {
                    grant.release();
                    succeeded.incrementAndGet();
                } catch (StackOverflowError tooDeep) {
                    refused.incrementAndGet(); // released below
                }
            });
            grant.release();
            waiting.join().release();
        });

        assertThatAllIsAsBefore(REUSED);
    }

    private void assertThatAllIsAsBefore(AcquireRequest request) {
        assertThat(succeeded).as("calls that had enough stack").hasPositiveValue();
        assertThat(refused).as("calls that had too little stack").hasPositiveValue();
        semaphores.executeWithoutResult(
                request, grant -> assertThat(grant.isHeld()).as("held").isTrue());
        Awaitility.await()
                .atMost(Duration.ofSeconds(5))
                .untilAsserted(() -> assertThat(pool.getHikariPoolMXBean().getActiveConnections())
                        .as("connections that were not given back")
                        .isZero());
    }

    /** Runs the task again and again, each time with fewer frames to be left on the stack, until it throws. */
    private static void withFramesLeft(IntConsumer task) throws Exception {
        FutureTask<Boolean> tasks = new FutureTask<>(() -> {
            for (int framesLeft = MOST_FRAMES_LEFT; framesLeft > 0; framesLeft -= STEP) {
                task.accept(framesLeft);
            }
            return true;
        });
        Thread thread = new Thread(null, tasks, "deep", STACK_SIZE);
        thread.setDaemon(true);
        thread.start();
        assertThat(tasks.get(50, TimeUnit.SECONDS)).isTrue();
    }

    /** Calls itself to the end of the stack, and runs the task on the way back. */
    @SuppressWarnings("InfiniteRecursion")
    private static int descend(int framesLeft, Runnable task) {
        int below;
        try {
            below = descend(framesLeft, task);
        } catch (StackOverflowError end) {
            return 0;
        }
        if (below == framesLeft) {
            task.run();
        }
        return below + 1;
    }
}
