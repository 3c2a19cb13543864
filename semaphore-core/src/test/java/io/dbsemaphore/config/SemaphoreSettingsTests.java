package io.dbsemaphore.config;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SemaphoreSettingsTests {

    @ParameterizedTest
    @ValueSource(strings = {"", " a", "a\u0001b"})
    void nameTheOwnerThatIsNotValid(String owner) {
        SemaphoreSettings defaults = SemaphoreSettings.defaults();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> new SemaphoreSettings(
                        owner,
                        defaults.tablePrefix(),
                        defaults.defaultTtl(),
                        defaults.maxTtl(),
                        defaults.maxHold(),
                        defaults.keepAliveInterval(),
                        defaults.instanceTimeout(),
                        defaults.shutdownTimeout(),
                        defaults.lockWaitTimeout(),
                        defaults.sessionIdleLimit(),
                        defaults.maxAttempts(),
                        defaults.maxNamesPerRequest(),
                        defaults.maxBatchSize(),
                        defaults.maxConnections()))
                .withMessageContaining("semaphore.owner")
                .withMessageNotContaining("semaphore name");
    }
}
