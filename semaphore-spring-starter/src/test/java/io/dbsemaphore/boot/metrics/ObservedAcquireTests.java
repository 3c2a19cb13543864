package io.dbsemaphore.boot.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.spi.PermitManager;
import io.dbsemaphore.spi.PermitManager.AcquireResult;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The future of an acquire that is being measured when something else happens to it. */
class ObservedAcquireTests {

    private final ObservationRegistry registry = ObservationRegistry.create();
    private final CompletableFuture<AcquireResult> acquire = new CompletableFuture<>();
    private final AtomicInteger closed = new AtomicInteger();
    private Runnable whenMeasured = () -> {};
    private final PermitGrant grant = proxy(PermitGrant.class, closed);
    private final PermitManager manager = new InstrumentedPermitManager(
            proxy(PermitManager.class, closed),
            new ConfiguredNames(Set.of("orders"), SemaphoreSettings.defaults()),
            null,
            new AcquireObservations(registry));

    @BeforeEach
    void observe() {
        registry.observationConfig().observationHandler(new ObservationHandler<Observation.Context>() {

            @Override
            public void onStop(Observation.Context context) {
                whenMeasured.run();
            }

            @Override
            public boolean supportsContext(Observation.Context context) {
                return true;
            }
        });
    }

    @Test
    void closesTheGrantOfAFutureThatWasCompletedMeanwhile() {
        CompletableFuture<AcquireResult> future = manager.acquireAsync(AcquireRequest.of("orders"));
        whenMeasured = () -> future.completeExceptionally(new TimeoutException());

        acquire.complete(new AcquireResult.Granted(grant));

        assertThat(future).isCompletedExceptionally();
        assertThat(closed).hasValue(1);
    }

    @Test
    void deliversTheGrantToACancellationThatIsTooLate() {
        CompletableFuture<AcquireResult> future = manager.acquireAsync(AcquireRequest.of("orders"));
        whenMeasured = () -> assertThat(future.cancel(true)).isFalse();

        acquire.complete(new AcquireResult.Granted(grant));

        assertThat(future).isCompletedWithValue(new AcquireResult.Granted(grant));
        assertThat(closed).hasValue(0);
    }

    @Test
    void endsTheAcquireWhenTheFutureIsCancelled() {
        CompletableFuture<AcquireResult> future = manager.acquireAsync(AcquireRequest.of("orders"));

        assertThat(future.cancel(true)).isTrue();

        assertThat(acquire).isCancelled();
        assertThat(future).failsWithin(Duration.ZERO).withThrowableOfType(CancellationException.class);
    }

    @Test
    void endsTheAcquireWhenTheFutureIsCompleted() {
        CompletableFuture<AcquireResult> future = manager.acquireAsync(AcquireRequest.of("orders"));

        future.completeExceptionally(new TimeoutException());

        assertThat(acquire).isCancelled();
    }

    private <T> T proxy(Class<T> type, AtomicInteger closes) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "acquireAsync":
                            return acquire;
                        case "close":
                            closes.incrementAndGet();
                            return null;
                        case "isReplayed", "isReused":
                            return false;
                        case "equals":
                            return proxy == arguments[0];
                        case "hashCode":
                            return System.identityHashCode(proxy);
                        default:
                            return method.getName();
                    }
                }));
    }
}
