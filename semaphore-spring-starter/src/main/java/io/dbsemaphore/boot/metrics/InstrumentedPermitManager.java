package io.dbsemaphore.boot.metrics;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.QueuePosition;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.spi.PermitManager;
import io.dbsemaphore.spi.PermitManagerDecorator;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * Measures and observes each acquire. Exceptions of meters and handlers are logged and swallowed; thrown, they would hide the grant from
 * the caller, who could never release it.
 *
 * @param meters null if acquires are not measured
 */
record InstrumentedPermitManager(
        PermitManager delegate,
        ConfiguredNames names,
        @Nullable SemaphoreMetrics meters,
        AcquireObservations observations)
        implements PermitManager {

    private static final Logger log = LoggerFactory.getLogger(InstrumentedPermitManager.class);

    @Override
    public AcquireResult acquire(AcquireRequest request) {
        return watched(request, delegate::acquire);
    }

    @Override
    public AcquireResult acquireForWork(AcquireRequest request) {
        return watched(request, delegate::acquireForWork);
    }

    @Override
    public CompletableFuture<AcquireResult> acquireAsync(AcquireRequest request) {
        Watch watch = new Watch(request);
        return new ObservedAcquire(watch.begin(() -> delegate.acquireAsync(request)), watch);
    }

    @Override
    public ReleaseOutcome release(String externalId) {
        return delegate.release(externalId);
    }

    @Override
    public Optional<PermitGrant> find(String externalId) {
        return delegate.find(externalId);
    }

    @Override
    public PermitGrant renew(String externalId, Duration ttl) {
        return delegate.renew(externalId, ttl);
    }

    @Override
    public void requireHeld(PermitGrant grant) {
        delegate.requireHeld(grant);
    }

    @Override
    public List<String> firstHolders(String name) {
        return delegate.firstHolders(name);
    }

    private AcquireResult watched(AcquireRequest request, Function<AcquireRequest, AcquireResult> acquire) {
        Watch watch = new Watch(request);
        safely(() -> watch.scope = watch.observation.openScope());
        AcquireResult result = watch.begin(() -> acquire.apply(request));
        watch.stop(result, null);
        return result;
    }

    private static void safely(Runnable instrument) {
        try {
            instrument.run();
        } catch (Throwable failure) {
            log.warn("An acquire could not be measured or observed; it is not affected", failure);
        }
    }

    /**
     * The future of an observed acquire. It is completed after the watch has stopped: its dependent actions may be the work, which is not
     * part of the acquire.
     */
    private static final class ObservedAcquire extends CompletableFuture<AcquireResult>
            implements QueuePosition.Source {

        private final CompletableFuture<AcquireResult> acquire;

        ObservedAcquire(CompletableFuture<AcquireResult> acquire, Watch watch) {
            this.acquire = acquire;
            CompletableFuture<?> unused = acquire.whenComplete((result, failure) -> {
                try {
                    watch.stop(result, failure);
                } finally {
                    end(result, failure);
                }
            });
            CompletableFuture<?> unusedToo = whenComplete((result, failure) -> acquire.cancel(true));
        }

        @Override
        public List<QueuePosition> positions() {
            return acquire instanceof QueuePosition.Source source ? source.positions() : List.of();
        }

        /** Completes the future. If the application has completed it otherwise, the grant is released, since nobody has it. */
        private void end(@Nullable AcquireResult result, @Nullable Throwable failure) {
            if (failure instanceof CancellationException) {
                super.cancel(true);
            } else if (failure != null) {
                completeExceptionally(failure);
            } else if (!complete(result)
                    && (isCompletedExceptionally() || getNow(null) != result)
                    && result instanceof AcquireResult.Granted granted
                    && !granted.grant().isReplayed()) {
                granted.grant().close();
            }
        }

        /** Cancels the acquire. An acquire that has ended keeps its result, even while it is still being measured. */
        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            acquire.cancel(mayInterruptIfRunning);
            CompletableFuture<?> unused = acquire.whenComplete(this::end);
            return isCancelled();
        }
    }

    /** Follows one acquire from its start to its end. */
    private final class Watch {

        private final long begunAt = System.nanoTime();
        private final AcquireRequest request;
        private final Set<String> configured;
        private final AcquireContext context;
        private Observation observation = Observation.NOOP;
        /** Opened on the thread that acquires; none for an asynchronous acquire. */
        private Observation.Scope scope = Observation.Scope.NOOP;

        Watch(AcquireRequest request) {
            this.request = request;
            configured = names.of(request.permits().keySet());
            context = new AcquireContext(request, configured);
            if (meters != null) {
                safely(() -> meters.started(configured));
                request.share()
                        .ifPresent(share ->
                                safely(() -> meters.started(request.permits().keySet(), share)));
            }
            safely(() -> observation = observations.of(context));
            safely(observation::start);
        }

        /** Calls the acquire, and stops if that throws. */
        <T> T begin(Supplier<T> acquire) {
            try {
                return acquire.get();
            } catch (RuntimeException | Error failure) {
                stop(null, failure);
                throw failure;
            }
        }

        /** Measures first, within the observation: registries take exemplars from there. */
        void stop(@Nullable AcquireResult result, @Nullable Throwable failure) {
            long nanos = System.nanoTime() - begunAt;
            context.ended(result);
            if (meters != null) {
                safely(() -> meters.ended(configured, context.outcome(), nanos));
                request.share()
                        .ifPresent(share -> safely(
                                () -> meters.ended(request.permits().keySet(), share, context.outcome(), nanos)));
            }
            if (failure != null) {
                safely(() -> observation.error(failure));
            }
            safely(scope::close);
            safely(observation::stop);
        }
    }

    /** The beans that metrics and observations share: the decorator, and the tag values of semaphores. */
    @Configuration(proxyBeanMethods = false)
    static final class Instrumentation {

        @Bean
        ConfiguredNames semaphoreConfiguredNames(Environment environment, SemaphoreSettings settings) {
            Set<String> declared = Binder.get(environment)
                    .bind("semaphore.semaphores", Bindable.mapOf(String.class, Object.class))
                    .map(Map::keySet)
                    .orElse(Set.of());
            return new ConfiguredNames(declared, settings);
        }

        @Bean
        PermitManagerDecorator semaphoreInstrumentation(
                ConfiguredNames names,
                ObjectProvider<SemaphoreMetrics> meters,
                ObjectProvider<AcquireObservations> observations) {
            return manager -> new InstrumentedPermitManager(
                    manager,
                    names,
                    meters.getIfAvailable(),
                    observations.getIfAvailable(() -> new AcquireObservations(ObservationRegistry.NOOP)));
        }
    }
}
