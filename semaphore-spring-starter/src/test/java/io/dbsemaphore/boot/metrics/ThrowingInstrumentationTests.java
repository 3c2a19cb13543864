package io.dbsemaphore.boot.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.spi.PermitManager;
import io.dbsemaphore.spi.PermitManager.AcquireResult;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Handlers and meters that throw do not change an acquire: a caller without its grant could never release it. */
class ThrowingInstrumentationTests {

    private static final AcquireRequest REQUEST = AcquireRequest.of("orders");

    private final AcquireResult refusal = new AcquireResult.Unavailable(List.of(), Duration.ZERO);
    private final ConfiguredNames names = new ConfiguredNames(Set.of("orders"), SemaphoreSettings.defaults());

    private enum Moment {
        START,
        SCOPE_OPENED,
        SCOPE_CLOSED,
        ERROR,
        STOP
    }

    /** Throws an error at one moment of each observation. */
    private record Throwing(Moment moment) implements ObservationHandler<Observation.Context> {

        private void at(Moment now) {
            if (now == moment) {
                throw new NoClassDefFoundError("a handler that does not link");
            }
        }

        @Override
        public void onStart(Observation.Context context) {
            at(Moment.START);
        }

        @Override
        public void onScopeOpened(Observation.Context context) {
            at(Moment.SCOPE_OPENED);
        }

        @Override
        public void onScopeClosed(Observation.Context context) {
            at(Moment.SCOPE_CLOSED);
        }

        @Override
        public void onError(Observation.Context context) {
            at(Moment.ERROR);
        }

        @Override
        public void onStop(Observation.Context context) {
            at(Moment.STOP);
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return true;
        }
    }

    @ParameterizedTest
    @EnumSource
    void handlersDoNotChangeTheResult(Moment moment) {
        assertThat(observed(throwingAt(moment), answering(refusal)).acquire(REQUEST))
                .isSameAs(refusal);
    }

    @ParameterizedTest
    @EnumSource
    void handlersDoNotChangeTheFailure(Moment moment) {
        SemaphoreNotFoundException failure = new SemaphoreNotFoundException(List.of("orders"));

        assertThatExceptionOfType(SemaphoreNotFoundException.class)
                .isThrownBy(() -> observed(throwingAt(moment), failing(failure)).acquireForWork(REQUEST))
                .isSameAs(failure);
    }

    @Test
    void metersDoNotChangeTheResult() {
        MeterRegistry registry = new SimpleMeterRegistry();
        SemaphoreMetrics meters = new SemaphoreMetrics(registry, names);
        registry.config().meterFilter(new MeterFilter() {
            @Override
            public Meter.Id map(Meter.Id id) {
                throw new NoClassDefFoundError("a filter that does not link");
            }
        });
        PermitManager metered = new InstrumentedPermitManager(
                answering(refusal), names, meters, new AcquireObservations(ObservationRegistry.NOOP));

        assertThat(metered.acquire(REQUEST)).isSameAs(refusal);
    }

    private PermitManager observed(ObservationRegistry registry, PermitManager delegate) {
        return new InstrumentedPermitManager(delegate, names, null, new AcquireObservations(registry));
    }

    private static ObservationRegistry throwingAt(Moment moment) {
        ObservationRegistry registry = ObservationRegistry.create();
        registry.observationConfig().observationHandler(new Throwing(moment));
        return registry;
    }

    private static PermitManager answering(AcquireResult result) {
        return permitManager(() -> result);
    }

    private static PermitManager failing(RuntimeException failure) {
        return permitManager(() -> {
            throw failure;
        });
    }

    private static PermitManager permitManager(Supplier<AcquireResult> answer) {
        return (PermitManager) Proxy.newProxyInstance(
                PermitManager.class.getClassLoader(),
                new Class<?>[] {PermitManager.class},
                (proxy, method, arguments) -> answer.get());
    }
}
