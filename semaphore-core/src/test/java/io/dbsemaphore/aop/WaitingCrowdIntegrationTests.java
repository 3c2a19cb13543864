package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** However many calls wait for a full semaphore, nobody else waits for them, and one that is cancelled leaves nothing. */
@Slow
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WaitingCrowdIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final int CROWD = 10_000;

    /** More than acquires are completed at a time. */
    private static final int CALLS = 70;

    private static TestDatabase.Schema schema;
    private static SemaphoreEngine engine;

    private final SemaphoreTemplate semaphores = new SemaphoreTemplate(engine.permitManager());
    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
    private final List<Disposable> waiting = new ArrayList<>();
    private final long threadsBefore = allThreads();
    private PermitGrant held;
    private Work work;

    @BeforeAll
    static void startEngine() {
        schema = TestDatabase.create().migrate();
        engine = new SemaphoreEngine(schema.newPool(10), TestSettings.defaults());
        engine.admin().create("full", 1);
        engine.admin().create("free", 1);
        engine.admin().create("wide", CALLS);
    }

    @AfterAll
    static void stopEngine() {
        engine.close();
        schema.close();
    }

    @BeforeEach
    void start() {
        AopConfigUtils.registerAutoProxyCreatorIfNecessary(context);
        AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(context);
        context.registerBean(SemaphoreOperations.class, () -> semaphores, definition -> definition.setLazyInit(true));
        context.register(GuardedContext.AdvisorConfiguration.class, Work.class);
        context.refresh();
        work = context.getBean(Work.class);
        held = semaphores.acquire(AcquireRequest.of("full"));
    }

    @AfterEach
    void stop() {
        waiting.forEach(Disposable::dispose);
        held.release();
        context.close();
    }

    @Measured
    @Test
    void ofSubscriptionsKeepsNobodyWaiting() {
        IntStream.range(0, CROWD).forEach(i -> waiting.add(work.full().subscribe()));
        long begun = System.nanoTime();

        assertThat(work.free().block(SOON)).isEqualTo("free");

        Duration took = Duration.ofNanos(System.nanoTime() - begun);
        assertThat(threads()).as("threads").isLessThan(100);
        waiting.forEach(Disposable::dispose); // those of another measurement come alone
        Measurement.check(() -> assertThat(took).isLessThan(Duration.ofSeconds(5)));
    }

    @Test
    void ofFuturesHoldsNoThread() {
        List<CompletableFuture<String>> futures =
                IntStream.range(0, 500).mapToObj(i -> work.fullFuture()).toList();

        assertThat(work.freeFuture().orTimeout(20, TimeUnit.SECONDS).join()).isEqualTo("free");
        assertThat(futures).noneMatch(CompletableFuture::isDone);
        assertThat(threads()).as("threads").isLessThan(100);

        futures.subList(1, futures.size()).forEach(future -> future.cancel(true));
        held.release();
        assertThat(futures.get(0).orTimeout(20, TimeUnit.SECONDS).join()).isEqualTo("full");
    }

    @Test
    void ofMethodsThatAreAtWorkLetsTheirInnerCallsBegin() {
        List<CompletableFuture<String>> futures =
                IntStream.range(0, CALLS).mapToObj(i -> work.callsAnother(work)).toList();

        assertThat(futures)
                .allSatisfy(future -> assertThat(
                                future.orTimeout(30, TimeUnit.SECONDS).join())
                        .isEqualTo("free"));
    }

    @Test
    void ofFallbacksThatAreAtWorkLetsTheirInnerCallsBegin() {
        List<CompletableFuture<String>> futures =
                IntStream.range(0, CALLS).mapToObj(i -> work.refused(work)).toList();

        assertThat(futures)
                .allSatisfy(future -> assertThat(
                                future.orTimeout(30, TimeUnit.SECONDS).join())
                        .isEqualTo("free"));
    }

    @Test
    void thatIsCancelledLeavesNothing() {
        for (int i = 0; i < 100; i++) {
            waiting.add(work.full().subscribe());
        }
        work.free().block(SOON); // after them

        waiting.forEach(Disposable::dispose);

        assertThat(work.free().block(SOON)).isEqualTo("free");
        held.release();
        assertThat(work.full().block(SOON)).isEqualTo("full");
        assertThat(permitsHeld()).isZero();
        assertThat(work.fullCalls()).isEqualTo(1);
    }

    /** The permit goes round while half of those who wait for it lose interest: each grant is used or released. */
    @Test
    void ofWhichSomeAreCancelledWhileTheyAreGrantedLosesNoPermit() {
        List<CompletableFuture<PermitGrant>> acquires = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            CompletableFuture<PermitGrant> acquire =
                    semaphores.acquireAsync(AcquireRequest.of("full").withWaitTime(Duration.ofSeconds(30)));
            acquires.add(acquire);
            CompletableFuture<?> unused = acquire.thenAccept(PermitGrant::release);
        }
        held.release();

        for (int i = 1; i < acquires.size(); i += 2) {
            acquires.get(i).cancel(true);
        }

        for (CompletableFuture<PermitGrant> acquire : acquires) {
            Awaitility.await().atMost(SOON).until(acquire::isDone);
        }
        Awaitility.await("all is released").atMost(SOON).until(() -> permitsHeld() == 0);
        semaphores.acquire(AcquireRequest.of("full")).release();
    }

    private static long permitsHeld() {
        Long held = schema.jdbc().queryForObject("select count(*) from permit where state = 'ACQUIRED'", Long.class);
        return held == null ? -1 : held;
    }

    /** Those that this test has begun: the ones of the test before may not have ended yet. */
    private long threads() {
        return allThreads() - threadsBefore;
    }

    private static long allThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("semaphore-"))
                .count();
    }

    static class Work {

        private final AtomicInteger fullCalls = new AtomicInteger();
        private final CountDownLatch atWork = new CountDownLatch(CALLS);

        int fullCalls() {
            return fullCalls.get();
        }

        @WithPermits(names = "full", waitTime = "30s")
        Mono<String> full() {
            return Mono.fromCallable(() -> {
                fullCalls.incrementAndGet();
                return "full";
            });
        }

        @WithPermits(names = "free", waitTime = "15s")
        Mono<String> free() {
            return Mono.just("free");
        }

        @WithPermits(names = "full", waitTime = "30s")
        CompletableFuture<String> fullFuture() {
            return CompletableFuture.completedFuture("full");
        }

        /** Waits for an inner call when all are at work. */
        @WithPermits(names = "wide", waitTime = "15s")
        CompletableFuture<String> callsAnother(Work guarded) {
            atWork.countDown();
            Awaitility.await().atMost(SOON).until(() -> atWork.getCount() == 0);
            return CompletableFuture.completedFuture(guarded.freeFuture().join());
        }

        @WithPermits(names = "full", waitTime = "50ms", fallbackMethod = "callsAnother")
        CompletableFuture<String> refused(Work guarded) {
            throw new AssertionError("The permit is held");
        }

        @WithPermits(names = "free", waitTime = "15s")
        CompletableFuture<String> freeFuture() {
            return CompletableFuture.completedFuture("free");
        }
    }
}
