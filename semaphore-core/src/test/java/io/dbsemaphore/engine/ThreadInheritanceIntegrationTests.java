package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestSettings;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Threads of the engine have nothing of the caller that needed them first, such as its tenant or its class loader. */
@Slow
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ThreadInheritanceIntegrationTests {

    private static final List<String> KINDS =
            List.of("semaphore-database", "semaphore-keep-alive", "semaphore-application");

    private static final Duration LONG = Duration.ofSeconds(20);
    private static final InheritableThreadLocal<@Nullable String> TENANT = new InheritableThreadLocal<>();

    @Test
    void noThreadHasAnythingOfTheFirstCaller() throws Exception {
        try (TestDatabase.Schema schema = TestDatabase.create().migrate()) {
            Watched dataSource = new Watched(schema.newPool(10));
            Map<Thread, ClassLoader> started = new ConcurrentHashMap<>();
            TENANT.set("first caller");
            ClassLoader before = Thread.currentThread().getContextClassLoader();
            try (URLClassLoader application = new URLClassLoader(new URL[0], before)) {
                Thread.currentThread().setContextClassLoader(application);
                useEverything(dataSource, started);
                assertThat(dataSource.seen.keySet()).containsAll(KINDS);
                Seen nothing = new Seen(null, SemaphoreEngine.class.getClassLoader());
                assertThat(started.keySet()).extracting(Thread::getName).contains("semaphore-scheduler");
                assertThat(started)
                        .allSatisfy((thread, loader) ->
                                assertThat(loader).as(thread.getName()).isSameAs(nothing.loader()));
                KINDS.forEach(
                        kind -> assertThat(dataSource.seen.get(kind)).as(kind).isEqualTo(nothing));
            } finally {
                Thread.currentThread().setContextClassLoader(before);
                TENANT.remove();
            }
        }
    }

    /** Has each thread of the engine started while this thread, or one that inherits from it, needs it. */
    private static void useEverything(Watched dataSource, Map<Thread, ClassLoader> started) throws Exception {
        Set<Thread> others = Thread.getAllStackTraces().keySet();
        SemaphoreSettings often =
                TestSettings.defaults().with(MaintenanceSettings.ORPHAN_RELEASE_INTERVAL, Duration.ofMillis(100));
        StatementGate gate = new StatementGate(dataSource);
        try (SemaphoreEngine engine = new SemaphoreEngine(gate, often)) {
            SemaphoreTemplate semaphores = new SemaphoreTemplate(engine.permitManager());
            engine.admin().create("s", 3);
            engine.start();
            PermitGrant kept = semaphores.acquire(AcquireRequest.of("s")
                    .withKeepAlive(true)
                    .withTtl(Duration.ofSeconds(6))
                    .withWaitTime(LONG));
            releaseInPair(gate, semaphores);
            waitInVain(semaphores);
            semaphores
                    .acquireAsync(AcquireRequest.of("s"))
                    .get(20, TimeUnit.SECONDS)
                    .release();
            Awaitility.await().atMost(LONG).until(() -> {
                semaphores.execute(AcquireRequest.of("s"), grant -> ""); // sessions in use are kept for a while
                return dataSource.seen.containsKey("semaphore-keep-alive");
            });
            assertThat(kept.isHeld()).isEqualTo(true);
            engine.applicationThreads().execute(dataSource::note);
            Awaitility.await().atMost(LONG).until(() -> dataSource.seen.containsKey("semaphore-application"));
            Thread.getAllStackTraces().keySet().stream()
                    .filter(thread ->
                            !others.contains(thread) && thread.getName().startsWith("semaphore-"))
                    .forEach(thread -> started.put(thread, thread.getContextClassLoader()));
        } // and what is still held is released by the shutdown
    }

    /** The first is done by its caller, so that the second needs a thread. */
    private static void releaseInPair(StatementGate gate, SemaphoreTemplate semaphores) throws Exception {
        PermitGrant first = semaphores.acquire(AcquireRequest.of("s"));
        PermitGrant second = semaphores.acquire(AcquireRequest.of("s"));
        StatementGate.Pause pause = gate.pauseBeforeCommitOf("permit_request");
        Future<?> held = Concurrently.async(first::release);
        pause.awaitReached(LONG);
        second.release();
        pause.open();
        Concurrently.get(held);
    }

    private static void waitInVain(SemaphoreTemplate semaphores) {
        AcquireRequest all = AcquireRequest.of("s").withPermits("s", 3);
        assertThat(semaphores.tryAcquire(all.withWaitTime(Duration.ofMillis(500))))
                .isEmpty();
    }

    private record Seen(@Nullable String tenant, ClassLoader loader) {

        static Seen now() {
            return new Seen(TENANT.get(), Thread.currentThread().getContextClassLoader());
        }

        /** Of the calling thread, without its number. */
        static String kind() {
            return Thread.currentThread().getName().replaceFirst("-\\d+$", "");
        }
    }

    /** Notes of each thread that uses it what it has inherited. */
    private static final class Watched extends DelegatingDataSource {

        private final Map<String, Seen> seen = new ConcurrentHashMap<>();

        Watched(DataSource target) {
            super(target);
        }

        @Override
        public Connection getConnection() throws SQLException {
            note();
            Connection connection = super.getConnection();
            return (Connection) Proxy.newProxyInstance(
                    Connection.class.getClassLoader(),
                    new Class<?>[] {Connection.class},
                    (proxy, method, arguments) -> {
                        note();
                        try {
                            return method.invoke(connection, arguments);
                        } catch (InvocationTargetException failure) {
                            throw failure.getTargetException();
                        }
                    });
        }

        private void note() {
            seen.put(Seen.kind(), Seen.now());
        }
    }
}
