package io.dbsemaphore.boot.web;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigureOrder;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.web.bind.annotation.ExceptionHandler;

/** Auto-configuration for status 429 where a controller is refused permits. Comes last, so that the advice of others wins. */
@AutoConfiguration
@AutoConfigureOrder(Ordered.LOWEST_PRECEDENCE)
@ConditionalOnWebApplication
@ConditionalOnClass(ExceptionHandler.class)
@ConditionalOnBooleanProperty(name = "semaphore.web.too-many-requests", matchIfMissing = true)
public final class TooManyRequestsAutoConfiguration {

    @Bean
    TooManyRequestsAdvice semaphoreTooManyRequestsAdvice() {
        return new TooManyRequestsAdvice();
    }
}
