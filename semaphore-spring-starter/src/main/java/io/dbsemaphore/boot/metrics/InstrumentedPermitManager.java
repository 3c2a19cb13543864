package io.dbsemaphore.boot.metrics;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.boot.metrics.InstrumentedPermitManager.Instrument.Watch;
import io.dbsemaphore.config.SemaphorePatterns;
import io.dbsemaphore.spi.PermitManager;
import io.dbsemaphore.spi.PermitManager.AcquireResult;
import io.dbsemaphore.spi.PermitManagerDecorator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
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
 * Has each acquire watched by the instruments. What they throw is logged and does not change the acquire: a caller that got
 * it instead of its grant could never release its permits.
 */
final class InstrumentedPermitManager implements PermitManager {

    private static final Logger log = LoggerFactory.getLogger(InstrumentedPermitManager.class);

    private final PermitManager delegate;
    private final List<Instrument> instruments;

    InstrumentedPermitManager(PermitManager delegate, List<Instrument> instruments) {
        this.delegate = delegate;
        this.instruments = instruments;
    }

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
        List<Watch> watches = start(request);
        CompletableFuture<AcquireResult> acquire;
        try {
            acquire = delegate.acquireAsync(request);
        } catch (RuntimeException | Error failure) {
            stop(watches, null, failure);
            throw failure;
        }
        CompletableFuture<?> unused = acquire.whenComplete((result, failure) -> stop(watches, result, failure));
        return acquire; // itself, since completing it ends the acquire
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
        List<Watch> watches = start(request);
        each(watches, Watch::openScope);
        AcquireResult result = null;
        Throwable thrown = null;
        try {
            result = acquire.apply(request);
            return result;
        } catch (RuntimeException | Error failure) {
            thrown = failure;
            throw failure;
        } finally {
            stop(watches, result, thrown);
        }
    }

    private List<Watch> start(AcquireRequest request) {
        List<Watch> watches = new ArrayList<>();
        each(instruments, instrument -> watches.add(instrument.watch(request)));
        each(watches, Watch::start);
        return watches;
    }

    private static void stop(List<Watch> watches, @Nullable AcquireResult result, @Nullable Throwable failure) {
        String outcome = result == null ? SemaphoreMetrics.FAILED : outcome(result);
        each(watches, watch -> watch.stop(outcome, failure));
    }

    private static String outcome(AcquireResult result) {
        if (result instanceof AcquireResult.Granted granted) {
            return granted.grant().isReused() ? SemaphoreMetrics.REUSED : SemaphoreMetrics.GRANTED;
        }
        return SemaphoreMetrics.REFUSED;
    }

    private static <T> void each(List<T> all, Consumer<T> call) {
        for (T one : all) {
            try {
                call.accept(one);
            } catch (Throwable failure) {
                log.warn("An acquire could not be measured or observed; that does not change it", failure);
            }
        }
    }

    /** Measures or observes acquires. */
    interface Instrument {

        /** Returns what follows one acquire from its start to its end. */
        Watch watch(AcquireRequest request);

        /** Follows one acquire. {@link InstrumentedPermitManager} logs exceptions of its methods; the acquire is not affected. */
        interface Watch {

            /** The acquire begins. */
            void start();

            /** Called on the thread on which the acquire runs until its end; not called for an asynchronous acquire. */
            default void openScope() {}

            /**
             * The acquire has ended. Called on any thread if it was asynchronous.
             *
             * @param outcome one of the outcomes of {@link SemaphoreMetrics}
             * @param failure what it threw
             */
            void stop(String outcome, @Nullable Throwable failure);
        }
    }

    /** What metrics and observations share: the decorator, and what semaphores are called. */
    @Configuration(proxyBeanMethods = false)
    static final class Instrumentation {

        @Bean
        ConfiguredNames semaphoreConfiguredNames(Environment environment, SemaphorePatterns patterns) {
            Set<String> declared = Binder.get(environment)
                    .bind("semaphore.semaphores", Bindable.mapOf(String.class, Object.class))
                    .map(Map::keySet)
                    .orElse(Set.of());
            return new ConfiguredNames(declared, patterns);
        }

        @Bean
        PermitManagerDecorator semaphoreInstrumentation(
                ObjectProvider<InstrumentedPermitManager.Instrument> instruments) {
            return manager -> new InstrumentedPermitManager(
                    manager, instruments.orderedStream().toList());
        }
    }
}
