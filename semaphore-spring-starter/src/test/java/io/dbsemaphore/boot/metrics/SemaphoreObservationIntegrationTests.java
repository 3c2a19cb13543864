package io.dbsemaphore.boot.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.testing.TestDatabase;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A trace shows how long a caller stood before the semaphore. */
class SemaphoreObservationIntegrationTests {

    private static TestDatabase.Schema database;
    private static OrdersHost host;

    private TestObservationRegistry observations;

    @BeforeAll
    static void start() {
        database = TestDatabase.create();
        host = OrdersHost.on(database, Observed.class);
    }

    @AfterAll
    static void stop() {
        host.close();
        database.close();
    }

    @BeforeEach
    void clear() {
        observations = host.bean(TestObservationRegistry.class);
        observations.clear();
    }

    @Test
    void observesAnAcquire() {
        host.semaphores()
                .acquire(AcquireRequest.of("orders").withExternalId("order-7"))
                .release();

        TestObservationRegistryAssert.assertThat(observations)
                .hasObservationWithNameEqualTo("semaphore.acquisition")
                .that()
                .hasBeenStarted()
                .hasBeenStopped()
                .hasContextualNameEqualTo("acquire orders")
                .hasLowCardinalityKeyValue("semaphore", "orders")
                .hasLowCardinalityKeyValue("outcome", "granted")
                .hasHighCardinalityKeyValue("semaphore.permits", "{orders=1}")
                .hasHighCardinalityKeyValue("semaphore.external_id", "order-7")
                .doesNotHaveError();
    }

    @Test
    void observesARefusal() {
        try (PermitGrant grant = host.semaphores().acquire(AcquireRequest.of("orders"))) {
            observations.clear();
            host.semaphores().tryAcquire(AcquireRequest.of("orders", "tenant:a"));
        }

        TestObservationRegistryAssert.assertThat(observations)
                .hasObservationWithNameEqualTo("semaphore.acquisition")
                .that()
                .hasLowCardinalityKeyValue("semaphore", "several")
                .hasLowCardinalityKeyValue("outcome", "refused")
                .doesNotHaveError();
    }

    @Test
    void observesAFailure() {
        assertThatExceptionOfType(SemaphoreNotFoundException.class)
                .isThrownBy(() -> host.semaphores().acquire(AcquireRequest.of("unknown")));

        TestObservationRegistryAssert.assertThat(observations)
                .hasObservationWithNameEqualTo("semaphore.acquisition")
                .that()
                .hasLowCardinalityKeyValue("semaphore", "other")
                .hasLowCardinalityKeyValue("outcome", "failed")
                .assertThatError()
                .isInstanceOf(SemaphoreNotFoundException.class);
    }

    @Test
    void isAChildOfWhatTheCallerIsAt() {
        Observation caller = Observation.createNotStarted("caller", observations);

        caller.observe(() ->
                host.semaphores().acquire(AcquireRequest.of("tenant:parent")).release());

        TestObservationRegistryAssert.assertThat(observations)
                .hasObservationWithNameEqualTo("semaphore.acquisition")
                .that()
                .hasLowCardinalityKeyValue("semaphore", "tenant:*")
                .satisfies(context -> assertThat(Objects.requireNonNull(context.getParentObservation())
                                .getContextView()
                                .getName())
                        .isEqualTo("caller"));
    }

    /** Registries take the exemplars of a timer from the observation that is open when it is recorded. */
    @Test
    void isStillOpenWhenTheAcquireIsMeasured() {
        Timer measured = host.bean(MeterRegistry.class)
                .get("semaphore.acquire")
                .tags("semaphore", "tenant:*", "outcome", "granted")
                .timer();
        long before = measured.count();
        List<Long> atTheEnd = new ArrayList<>();
        observations.observationConfig().observationHandler(new ObservationHandler<AcquireContext>() {
            @Override
            public void onScopeClosed(AcquireContext context) {
                atTheEnd.add(measured.count());
            }

            @Override
            public boolean supportsContext(Observation.Context context) {
                return context instanceof AcquireContext acquire
                        && acquire.semaphore().equals("tenant:*");
            }
        });

        host.semaphores().acquire(AcquireRequest.of("tenant:measured")).release();

        assertThat(atTheEnd).containsExactly(before + 1);
    }

    @Configuration(proxyBeanMethods = false)
    static class Observed {

        @Bean
        TestObservationRegistry observationRegistry() {
            return TestObservationRegistry.create();
        }
    }
}
