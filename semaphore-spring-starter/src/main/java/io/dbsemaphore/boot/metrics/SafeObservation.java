package io.dbsemaphore.boot.metrics;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An observation whose handlers cannot disturb what is observed. What they throw is logged: an acquire that threw it would
 * leave its permits behind.
 */
final class SafeObservation {

    private static final Logger log = LoggerFactory.getLogger(SafeObservation.class);

    private final ObservationRegistry registry;
    private Observation observation = Observation.NOOP;
    private Observation.@Nullable Scope scope;
    private Observation.@Nullable Scope outerScope;

    private SafeObservation(ObservationRegistry registry) {
        this.registry = registry;
    }

    /** Starts an observation. */
    static SafeObservation start(ObservationRegistry registry, Supplier<Observation> notStarted) {
        SafeObservation started = new SafeObservation(registry);
        started.safely(() -> {
            started.observation = notStarted.get();
            started.observation.start();
        });
        return started;
    }

    /** Makes it the current one of this thread, which must {@linkplain #closeScope end} that. */
    void openScope() {
        outerScope = registry.getCurrentObservationScope();
        if (!safely(() -> scope = observation.openScope())) {
            restoreScope();
        }
    }

    /** Makes the one from before the current one again. */
    void closeScope() {
        Observation.Scope opened = scope;
        if (opened != null && !safely(opened::close)) {
            restoreScope();
        }
    }

    /** What is observed has failed. */
    void error(Throwable failure) {
        safely(() -> observation.error(failure));
    }

    /** What is observed is over. */
    void stop() {
        safely(observation::stop);
    }

    private void restoreScope() {
        safely(() -> registry.setCurrentObservationScope(outerScope));
    }

    private boolean safely(Runnable call) {
        try {
            call.run();
            return true;
        } catch (Throwable failure) {
            warn(failure);
            return false;
        }
    }

    private static void warn(Throwable failure) {
        try {
            log.warn(
                    "A handler of the observation semaphore.acquisition threw; that does not change the acquire",
                    failure);
        } catch (Throwable notEvenThat) {
            // short of memory or of stack, as the handler was
        }
    }
}
