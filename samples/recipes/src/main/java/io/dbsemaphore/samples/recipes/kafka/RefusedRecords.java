package io.dbsemaphore.samples.recipes.kafka;

import io.dbsemaphore.PermitsUnavailableException;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.util.backoff.FixedBackOff;

/** A record that finds no permit is tried again until it finds one, and is never skipped for that. */
@Configuration
class RefusedRecords {

    private static final FixedBackOff FOR_EVER = new FixedBackOff(0, FixedBackOff.UNLIMITED_ATTEMPTS);

    @Bean
    DefaultErrorHandler errorHandler() {
        DefaultErrorHandler handler = new DefaultErrorHandler(); // other failures: gives up after ten attempts
        handler.setBackOffFunction((record, failure) ->
                NestedExceptionUtils.getMostSpecificCause(failure) instanceof PermitsUnavailableException
                        ? FOR_EVER
                        : null);
        return handler;
    }
}
