package io.dbsemaphore.boot.metrics;

import io.dbsemaphore.AcquireRequest;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.ObservationRegistry;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes an observation of each acquire, so that a trace shows how long a caller waited for the semaphore. */
final class AcquireObservations implements InstrumentedPermitManager.Instrument {

    private static final Convention CONVENTION = new Convention();
    private static final String SEVERAL = "several";

    private final ObservationRegistry registry;
    private final ConfiguredNames names;

    AcquireObservations(ObservationRegistry registry, ConfiguredNames names) {
        this.registry = registry;
        this.names = names;
    }

    @Override
    public Watch watch(AcquireRequest request) {
        AcquireContext context = new AcquireContext(request, semaphore(request));
        context.setOutcome(SemaphoreMetrics.FAILED);
        return new Observed(context, Observation.createNotStarted(null, CONVENTION, () -> context, registry));
    }

    /** Few values, however many names are combined. */
    private String semaphore(AcquireRequest request) {
        Set<String> configured = names.of(request.permits().keySet());
        return configured.size() == 1 ? configured.iterator().next() : SEVERAL;
    }

    private final class Observed implements Watch {

        private final AcquireContext context;
        private final Observation observation;
        private Observation.@Nullable Scope scope;

        private Observed(AcquireContext context, Observation observation) {
            this.context = context;
            this.observation = observation;
        }

        @Override
        public void start() {
            observation.start();
        }

        @Override
        public void openScope() {
            Observation.Scope outer = registry.getCurrentObservationScope();
            orRestore(outer, () -> scope = observation.openScope());
        }

        @Override
        public void stop(String outcome, @Nullable Throwable failure) {
            context.setOutcome(outcome);
            try {
                if (failure != null) {
                    observation.error(failure);
                }
            } finally {
                closeScopeAndStop();
            }
        }

        private void closeScopeAndStop() {
            Observation.Scope opened = scope;
            try {
                if (opened != null) {
                    orRestore(opened.getPreviousObservationScope(), opened::close);
                }
            } finally {
                observation.stop();
            }
        }

        /** Restores the outer scope if a handler throws; its scope would otherwise be the parent of later observations. */
        private void orRestore(Observation.@Nullable Scope outer, Runnable change) {
            try {
                change.run();
            } catch (Throwable failure) {
                registry.setCurrentObservationScope(outer);
                throw failure;
            }
        }
    }

    /** How an acquire is shown, unless the application says otherwise. */
    static final class Convention implements ObservationConvention<AcquireContext> {

        static final String NAME = "semaphore.acquisition";

        @Override
        public String getName() {
            return NAME;
        }

        @Override
        public String getContextualName(AcquireContext context) {
            return "acquire " + context.semaphore();
        }

        @Override
        public KeyValues getLowCardinalityKeyValues(AcquireContext context) {
            return KeyValues.of("semaphore", context.semaphore(), "outcome", context.outcome());
        }

        @Override
        public KeyValues getHighCardinalityKeyValues(AcquireContext context) {
            AcquireRequest request = context.request();
            KeyValues values =
                    KeyValues.of("semaphore.permits", request.permits().toString());
            values = request.waitTime().isEmpty()
                    ? values
                    : values.and("semaphore.wait_time", request.waitTime().get().toString());
            return request.externalId().isEmpty()
                    ? values
                    : values.and("semaphore.external_id", request.externalId().get());
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return context instanceof AcquireContext;
        }
    }
}
