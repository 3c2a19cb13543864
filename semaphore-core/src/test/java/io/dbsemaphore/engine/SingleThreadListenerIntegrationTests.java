package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.spi.SemaphoreListener;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Listeners that release a grant, while there are few threads of the database. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SingleThreadListenerIntegrationTests {

    private static final Duration WAIT = Duration.ofSeconds(5);

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void aListenerMayReleaseAGrant(int maxConnections) throws Exception {
        AtomicReference<PermitGrant> other = new AtomicReference<>();
        CompletableFuture<ReleaseOutcome> released = new CompletableFuture<>();
        SemaphoreListener listener = new SemaphoreListener() {
            @Override
            public void decided(Decided event) {
                PermitGrant grant = other.getAndSet(null);
                if (grant != null) {
                    released.complete(grant.release());
                }
            }
        };
        try (Schema schema = TestDatabase.create().migrate();
                HikariDataSource pool = schema.newPool(4);
                SemaphoreEngine engine = new SemaphoreEngine(
                        pool,
                        TestSettings.defaults().with(SemaphoreSettings.MAX_CONNECTIONS, maxConnections),
                        () -> List.of(listener),
                        List::of)) {
            SemaphoreTemplate semaphores = new SemaphoreTemplate(engine.permitManager());
            engine.admin().create("s", 2);
            PermitGrant first = semaphores.acquire(AcquireRequest.of("s"));
            other.set(first);

            PermitGrant second = semaphores.acquire(AcquireRequest.of("s").withWaitTime(WAIT));

            assertThat(released.get(WAIT.toMillis(), TimeUnit.MILLISECONDS)).isEqualTo(ReleaseOutcome.RELEASED);
            second.release();
        }
    }

    /** There may be one for each transaction that fails. */
    @Test
    void aListenerOfRetriesDelaysNoReportOfALoss() throws Exception {
        SemaphoreListener slow = new SemaphoreListener() {
            @Override
            public void retried(Retried event) {
                try {
                    TimeUnit.SECONDS.sleep(2); // as one that calls a remote service
                } catch (InterruptedException interrupt) {
                    Thread.currentThread().interrupt();
                }
            }
        };
        try (Schema schema = TestDatabase.create().migrate();
                Node node = Node.on(schema, TestSettings.defaults(), slow)) {
            PermitGrant grant = node.semaphores()
                    .acquire(AcquireRequest.of(node.semaphore(1)).withTtl(Duration.ofMillis(3500)));
            for (int i = 0; i < 200; i++) {
                node.gate().failBefore("insert into permit_request", new SQLException("deadlock", "40001", 1213));
            }
            CompletableFuture<PermitGrant> conflicts = node.semaphores()
                    .acquireAsync(AcquireRequest.of(node.semaphore(1)).withWaitTime(Duration.ofMinutes(1)));
            Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> !grant.isHeld());

            Awaitility.await("the report")
                    .atMost(Duration.ofSeconds(10))
                    .until(() -> node.events().subjects("lost").contains(grant.externalId()));

            node.gate().clear();
            conflicts.join().release();
        }
    }

    /** The release that has failed must not wait for the one by the listener, nor the other way round. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void aListenerMayReleaseAGrantWhenAReleaseIsRepeated(int maxConnections) throws Exception {
        AtomicReference<PermitGrant> other = new AtomicReference<>();
        CompletableFuture<ReleaseOutcome> released = new CompletableFuture<>();
        SemaphoreListener listener = new SemaphoreListener() {
            @Override
            public void retried(Retried event) {
                PermitGrant grant = other.getAndSet(null);
                if (grant != null) {
                    released.complete(grant.release());
                }
            }
        };
        try (Schema schema = TestDatabase.create().migrate();
                Node node = Node.on(
                        schema,
                        TestSettings.defaults().with(SemaphoreSettings.MAX_CONNECTIONS, maxConnections),
                        listener)) {
            String name = node.semaphore(2);
            PermitGrant first = node.semaphores().acquire(AcquireRequest.of(name));
            other.set(node.semaphores().acquire(AcquireRequest.of(name)));
            node.gate().failBefore("update permit", new SQLException("deadlock", "40001", 40001));

            ReleaseOutcome outcome = Concurrently.get(Concurrently.async(first::release));

            assertThat(outcome).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(released.get(WAIT.toMillis(), TimeUnit.MILLISECONDS)).isEqualTo(ReleaseOutcome.RELEASED);
        }
    }
}
