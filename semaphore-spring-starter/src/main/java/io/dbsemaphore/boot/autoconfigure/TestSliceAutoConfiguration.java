package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.aop.WithPermitsAdvisor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/** Auto-configuration for the tests of {@link TestSliceCustomizerFactory} only: all permits are granted. */
@AutoConfiguration(after = {SemaphoreAutoConfiguration.class, SemaphoreFallbackAutoConfiguration.class})
@ConditionalOnMissingBean(value = WithPermitsAdvisor.class, search = SearchStrategy.CURRENT)
@Import({AdviceConfiguration.class, UncountedConfiguration.class})
final class TestSliceAutoConfiguration {

    @Bean
    UncountedPermits.Reason semaphoreUncountedReason() {
        return UncountedPermits.Reason.TEST_SLICE;
    }
}
