package io.dbsemaphore.boot.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.testing.TestDatabase;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Handlers that throw while permits are acquired asynchronously: no grant is lost to its caller, and none is leaked. */
class ThrowingHandlersIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(30);

    private static TestDatabase.Schema database;
    private static OrdersHost host;
    private static Throwing handler;

    private @Nullable PermitGrant other;

    private enum Moment {
        START,
        ERROR,
        STOP
    }

    @BeforeAll
    static void start() {
        database = TestDatabase.create();
        host = OrdersHost.on(database, Observed.class, "semaphore.maintenance.enabled=false");
        handler = host.bean(Throwing.class);
    }

    @AfterAll
    static void stop() {
        host.close();
        database.close();
    }

    @AfterEach
    void releaseTheOther() {
        handler.throwAt(null);
        if (other != null) {
            other.release();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"START", "STOP"})
    void theCallerHasItsGrant(Moment moment) throws Exception {
        handler.throwAt(moment);

        PermitGrant grant = host.semaphores().acquireAsync(request()).get(30, TimeUnit.SECONDS);

        assertThat(held()).isEqualTo(1);
        assertThat(grant.isHeld()).isTrue();
        assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(held()).isZero();
        awaitThrown(moment);
    }

    @ParameterizedTest
    @EnumSource(names = {"START", "STOP"})
    void aGrantThatWasWaitedForReachesItsCaller(Moment moment) throws Exception {
        other = host.semaphores().acquire(request());
        handler.throwAt(moment);
        CompletableFuture<PermitGrant> waiting = wait(SOON);

        other.release();

        PermitGrant grant = waiting.get(30, TimeUnit.SECONDS);
        assertThat(held()).isEqualTo(1);
        assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(held()).isZero();
        awaitThrown(moment);
    }

    @ParameterizedTest
    @EnumSource
    void whatIsCancelledLeavesNothing(Moment moment) {
        other = host.semaphores().acquire(request());
        handler.throwAt(moment);
        CompletableFuture<PermitGrant> waiting = wait(SOON);

        waiting.cancel(true);

        awaitThrown(moment);
        await("the waiter to be gone").atMost(SOON).until(() -> waiting() == 0);
        other.release();
        host.semaphores().acquire(request().withWaitTime(SOON)).release();
        assertThat(held()).isZero();
    }

    @ParameterizedTest
    @EnumSource(names = {"START", "STOP"})
    void aRefusalIsToldAsOne(Moment moment) {
        other = host.semaphores().acquire(request());
        handler.throwAt(moment);

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> host.semaphores().acquireAsync(request()).get(30, TimeUnit.SECONDS))
                .withCauseInstanceOf(PermitsUnavailableException.class);
        awaitThrown(moment);
    }

    @ParameterizedTest
    @EnumSource
    void aFailureIsToldAsItIs(Moment moment) {
        handler.throwAt(moment);

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> host.semaphores()
                        .acquireAsync(AcquireRequest.of("unknown"))
                        .get(30, TimeUnit.SECONDS))
                .withCauseInstanceOf(SemaphoreNotFoundException.class);
        awaitThrown(moment);
    }

    /** Otherwise a test would show nothing. The future may be completed before its observation is stopped. */
    private static void awaitThrown(Moment moment) {
        await("the handler to throw at " + moment).atMost(SOON).until(() -> handler.thrown.contains(moment));
    }

    private static AcquireRequest request() {
        return AcquireRequest.of("orders").withKeepAlive(true);
    }

    private static CompletableFuture<PermitGrant> wait(Duration waitTime) {
        CompletableFuture<PermitGrant> waiting =
                host.semaphores().acquireAsync(request().withWaitTime(waitTime));
        await("the waiter to stand in line").atMost(SOON).until(() -> waiting() == 1);
        return waiting;
    }

    private static double waiting() {
        return host.bean(MeterRegistry.class)
                .get("semaphore.waiting")
                .tag("semaphore", "orders")
                .gauge()
                .value();
    }

    private static int held() {
        Integer held =
                database.jdbc().queryForObject("select count(*) from permit where state = 'ACQUIRED'", Integer.class);
        return held == null ? -1 : held;
    }

    @Configuration(proxyBeanMethods = false)
    static class Observed {

        @Bean
        Throwing throwing() {
            return new Throwing();
        }

        @Bean
        ObservationRegistry observationRegistry(Throwing throwing) {
            ObservationRegistry registry = ObservationRegistry.create();
            registry.observationConfig().observationHandler(throwing);
            return registry;
        }
    }

    /** Throws an error at one moment of each observation of an acquire. */
    static final class Throwing implements ObservationHandler<AcquireContext> {

        private final Set<Moment> thrown = ConcurrentHashMap.newKeySet();
        private volatile @Nullable Moment moment;

        void throwAt(@Nullable Moment moment) {
            thrown.clear();
            this.moment = moment;
        }

        private void at(Moment now) {
            if (now == moment) {
                thrown.add(now);
                throw new NoClassDefFoundError("a handler that does not link");
            }
        }

        @Override
        public void onStart(AcquireContext context) {
            at(Moment.START);
        }

        @Override
        public void onError(AcquireContext context) {
            at(Moment.ERROR);
        }

        @Override
        public void onStop(AcquireContext context) {
            at(Moment.STOP);
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return context instanceof AcquireContext;
        }
    }
}
