package io.dbsemaphore.concurrent;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;

/**
 * The main class of a process that is left without native threads. Its callers are there from the beginning. It does what
 * it reads:
 *
 * <ul>
 *   <li>{@code work} lets each of its callers do some guarded work on a semaphore, and says {@code WORKED done failed};
 *   <li>{@code keep} acquires a grant that is kept alive, and says {@code KEPT};
 *   <li>{@code held} says {@code HELD} and whether that is held;
 *   <li>{@code wait} lets a caller wait for what another one releases, and says {@code WAITED};
 *   <li>{@code end} releases what is kept and says {@code ENDED}.
 * </ul>
 */
final class ThreadlessProcess {

    static final int CALLERS = 8;
    static final int ROUNDS = 5;
    static final Duration TTL = Duration.ofSeconds(3);

    private static final Duration WAIT = Duration.ofSeconds(5);

    private final SemaphoreTemplate semaphores;
    private final CyclicBarrier begin = new CyclicBarrier(CALLERS + 1);
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();
    private final CountDownLatch workEnded = new CountDownLatch(CALLERS);

    private ThreadlessProcess(SemaphoreTemplate semaphores) {
        this.semaphores = semaphores;
    }

    public static void main(String[] arguments) throws Exception {
        Schema schema = TestDatabase.handedOver();
        HikariConfig config = schema.poolConfig(10, schema.jdbcUrl());
        config.setMinimumIdle(10);
        try (schema;
                HikariDataSource pool = new HikariDataSource(config);
                SemaphoreEngine engine = new SemaphoreEngine(pool, TestSettings.defaults());
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            ThreadlessProcess process = new ThreadlessProcess(new SemaphoreTemplate(engine.permitManager()));
            process.warmUp();
            Awaitility.await().until(() -> pool.getHikariPoolMXBean().getIdleConnections() == 10);
            Awaitility.await().until(ThreadlessProcess::areWorkersGone);
            process.startCallers();
            say("READY");
            process.obey(in);
        }
    }

    private void warmUp() {
        Concurrently.run(
                CALLERS,
                Duration.ofSeconds(30),
                index -> semaphores.execute(AcquireRequest.of("s").withWaitTime(WAIT), grant -> ""));
    }

    /** Workers of an idle engine end; what is to be shown is that they cannot be started anew. */
    private static boolean areWorkersGone() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .noneMatch(name -> name.matches("semaphore-(grants|releases)-.*|semaphore-poller"));
    }

    private void startCallers() {
        for (int i = 0; i < CALLERS; i++) {
            Thread caller = new Thread(this::work, "caller-" + i);
            caller.setDaemon(true);
            caller.start();
        }
    }

    private void work() {
        try {
            begin.await();
        } catch (Exception impossible) {
            throw new IllegalStateException(impossible);
        }
        for (int batch = 0; batch < ROUNDS; batch++) {
            try {
                semaphores.execute(AcquireRequest.of("s").withTtl(TTL).withWaitTime(WAIT), grant -> {
                    LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
                    return "";
                });
                done.incrementAndGet();
            } catch (RuntimeException | Error failure) {
                failed.incrementAndGet();
                say("FAILURE " + failure);
            }
        }
        workEnded.countDown();
    }

    private void obey(BufferedReader in) throws Exception {
        PermitGrant kept = null;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            switch (line) {
                case "work" -> {
                    begin.await();
                    workEnded.await();
                    say("WORKED " + done + " " + failed);
                }
                case "keep" -> {
                    kept = semaphores.acquire(
                            AcquireRequest.of("kept").withTtl(TTL).withKeepAlive(true));
                    say("KEPT");
                }
                case "held" -> say("HELD " + (kept != null && kept.isHeld()));
                case "wait" -> awaitRelease();
                case "end" -> {
                    List.of(kept).forEach(PermitGrant::close);
                    say("ENDED");
                }
                default -> throw new IOException(line);
            }
        }
    }

    private void awaitRelease() {
        PermitGrant holder = semaphores.acquire(AcquireRequest.of("one"));
        Thread waiter = new Thread(() -> {
            try (PermitGrant next = semaphores.acquire(AcquireRequest.of("one").withWaitTime(WAIT))) {
                say("WAITED " + next.isHeld());
            } catch (RuntimeException failure) {
                say("WAITED " + failure);
            }
        });
        waiter.start();
        Awaitility.await().until(() -> waiter.getState() == Thread.State.TIMED_WAITING);
        holder.release();
    }

    @SuppressWarnings("SystemOut")
    private static synchronized void say(String what) {
        System.out.println(what);
    }
}
