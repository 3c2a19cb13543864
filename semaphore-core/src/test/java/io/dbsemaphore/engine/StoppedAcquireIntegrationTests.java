package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TcpProxy;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The engine is stopped while an acquire is somewhere between its submission and its result. */
@Slow
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StoppedAcquireIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Duration HOUR = Duration.ofHours(1);
    private static Schema schema;

    @BeforeAll
    static void migrate() {
        schema = TestDatabase.create().migrate();
    }

    @AfterAll
    static void drop() {
        schema.close();
    }

    /** Its grant is being written for longer than the stop waits. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aCallerWhoseGrantIsBeingWrittenIsToldOnceTheEngineIsStopped(boolean waits) throws Exception {
        try (Node node = Node.on(schema, TestSettings.instanceTimeout(Duration.ofSeconds(20)))) {
            String name = node.semaphore(1);
            node.semaphores().acquire(AcquireRequest.of(name)).release();
            AcquireRequest request = AcquireRequest.of(name).withKeepAlive(true).withTtl(HOUR);
            Pause writing = node.gate().pauseBeforeCommitOf("insert into permit_request");
            Future<Object> acquired = Concurrently.async(() -> {
                try {
                    return node.semaphores().acquire(waits ? request.withWaitTime(HOUR) : request);
                } catch (RuntimeException failure) {
                    return failure;
                }
            });
            writing.awaitReached(SOON);
            Future<Boolean> stop = Concurrently.async(() -> {
                node.stop();
                return true;
            });
            stop.get(60, TimeUnit.SECONDS);
            Throwable notTold = catchThrowable(() -> acquired.get(20, TimeUnit.SECONDS));
            writing.open();
            Object result = acquired.get(20, TimeUnit.SECONDS);
            assertThat(result).as("result of an acquire on a stopped engine").isInstanceOf(Throwable.class);
            assertThat(notTold).as("in time").isNull();
        }
    }

    /** It would wait for as long as its wait time is, on an engine that is no more. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCallerWhoseCommitWasNotAnsweredIsToldOnceTheEngineIsStopped(boolean away) throws Exception {
        try (Schema apart = TestDatabase.create().migrate()) {
            TcpProxy proxy = apart.newProxy();
            Node node = Node.behind(proxy, apart, 4, TestSettings.defaults());
            String name = node.semaphore(1);
            node.semaphores().acquire(AcquireRequest.of(name)).release();
            proxy.silenceNextCommitAnswer("insert into permit_request");
            Future<Object> acquired = Concurrently.async(() -> {
                try {
                    return node.semaphores()
                            .acquire(AcquireRequest.of(name).withTtl(HOUR).withWaitTime(HOUR));
                } catch (RuntimeException failure) {
                    return failure;
                }
            });
            Awaitility.await().atMost(SOON).until(() -> SemaphoreRows.held(apart, name) == 1);
            proxy.silence(away);

            node.stop();
            Throwable notTold = catchThrowable(() -> acquired.get(20, TimeUnit.SECONDS));
            proxy.silence(false);
            Object result = acquired.get(20, TimeUnit.SECONDS);
            node.close();
            assertThat(notTold).as("told 20 s after the end of the engine").isNull();
            assertThat(result).isInstanceOf(Throwable.class);
        }
    }
}
