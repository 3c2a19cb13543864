package io.dbsemaphore.engine.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.PeakCounter;
import io.dbsemaphore.testing.TcpProxy;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.rerun.Promise;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An instance that reuses permits again and again is cut off from the database. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Promise
class ReuseCutOffIntegrationTests {

    private static final Duration R = Duration.ofSeconds(1);
    private static final Duration SOON = Duration.ofSeconds(40);
    private static final int CAPACITY = 3;

    private final Schema schema = TestDatabase.create().migrate();
    private final TcpProxy proxy = schema.newProxy();
    private final Node cutOff = Node.behind(proxy, schema, 4, settings());
    private final Node other = Node.on(schema, settings());
    private final AtomicBoolean stop = new AtomicBoolean();
    private final PeakCounter inUse = new PeakCounter();
    private final LongAdder reuses = new LongAdder();
    private final LongAccumulator lastReuse = new LongAccumulator(Math::max, Long.MIN_VALUE);

    enum Cut {
        CONNECTIONS_BREAK {
            @Override
            void away(TcpProxy proxy, boolean away) {
                proxy.refuse(away);
                proxy.cutAll();
            }
        },
        NO_ANSWERS {
            @Override
            void away(TcpProxy proxy, boolean away) {
                proxy.silence(away);
                if (!away) {
                    proxy.cutAll();
                }
            }
        };

        abstract void away(TcpProxy proxy, boolean away);
    }

    private static SemaphoreSettings settings() {
        return TestSettings.limits(2, 2, 3)
                .with(SemaphoreSettings.REUSE, PerSemaphore.all(R))
                .with(SemaphoreSettings.INSTANCE_TIMEOUT, Duration.ofSeconds(6))
                .with(SemaphoreSettings.SHUTDOWN_TIMEOUT, Duration.ofSeconds(1));
    }

    @BeforeEach
    void createSemaphore() {
        other.admin().create("partner", CAPACITY);
    }

    @AfterEach
    void close() {
        stop.set(true);
        other.close();
        cutOff.close();
        schema.close();
    }

    @ParameterizedTest
    @EnumSource(Cut.class)
    void beginsNoUseLaterThanTheReuseTimeAndLosesItsPermits(Cut cut) throws Exception {
        PermitGrant used = cutOff.semaphores().acquire(request());
        Future<Boolean> busy = Concurrently.async(() -> {
            Concurrently.run(4, Duration.ofSeconds(100), thread -> useUntilStopped());
            return true;
        });
        await().atMost(SOON).until(() -> reuses.sum() > 1_000);

        cut.away(proxy, true);
        long since = System.nanoTime();
        List<PermitGrant> taken = Stream.generate(
                        () -> other.semaphores().acquire(request().withWaitTime(SOON)))
                .limit(CAPACITY)
                .toList();

        inUse.enter(CAPACITY);
        assertThat(used.isHeld()).isFalse();
        LockSupport.parkNanos(R.toNanos());
        assertThat(Duration.ofNanos(lastReuse.get() - since))
                .as("the last use after the cut")
                .isLessThan(R);
        cut.away(proxy, false);
        LockSupport.parkNanos(R.toNanos());
        inUse.leave(CAPACITY);
        taken.forEach(PermitGrant::release);

        long before = reuses.sum();
        await().atMost(SOON).until(() -> reuses.sum() > before + 1_000);
        stop.set(true);
        assertThat(Concurrently.get(busy)).isTrue();
        assertThat(inUse.peak()).as("the most in use at once").isEqualTo(CAPACITY);
    }

    private void useUntilStopped() {
        while (!stop.get()) {
            long now = System.nanoTime();
            Optional<PermitGrant> granted = Optional.empty();
            try {
                granted = cutOff.semaphores().tryAcquire(request());
            } catch (RuntimeException failure) { // the database is away
                LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
            }
            granted.ifPresent(grant -> use(grant, now));
        }
    }

    /** Not as fast as possible: the tokens of a grant would be used up at once. */
    private void use(PermitGrant grant, long since) {
        inUse.enter();
        LockSupport.parkNanos(1_000_000);
        if (grant.isReused()) {
            reuses.increment();
            lastReuse.accumulate(since);
        }
        inUse.leave();
        grant.release();
    }

    private static AcquireRequest request() {
        return AcquireRequest.of("partner").withKeepAlive(true);
    }
}
