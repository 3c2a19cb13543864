package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What the share of a request changes before it is queued. */
class SharedAcquireTests {

    private final AcquireFactory factory = new AcquireFactory(
            SemaphoreSettings.defaults()
                    .with(SemaphoreSettings.FAIR, PerSemaphore.all(true).with("unordered*", false))
                    .with(
                            SemaphoreSettings.WAIT_TIME,
                            PerSemaphore.all(Duration.ZERO).with("backup", Duration.ofSeconds(3))),
            null);

    @Test
    void isRefusedWhereASemaphoreIsNotFair() {
        AcquireRequest request = AcquireRequest.of("backup", "unordered:a").withShare("acme/batch");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> factory.withDefaults(request))
                .withMessage("The share 'acme/batch' cannot be kept: semaphore 'unordered:a' is not fair"
                        + " (semaphore.semaphores.<name>.fair, semaphore.defaults.fair), so each instance has a queue of its"
                        + " own. Nothing was acquired. Set fair to true, or acquire without a share");
    }

    @Test
    void waitsLikeAnyOther() {
        assertThat(factory.withDefaults(AcquireRequest.of("backup").withShare("acme")))
                .satisfies(request -> assertThat(request.share()).contains("acme"))
                .satisfies(request -> assertThat(request.waitTime()).contains(Duration.ofSeconds(3)));
        assertThat(factory.withDefaults(AcquireRequest.of("unordered")).share()).isEmpty();
    }

    @Test
    void reusesNoPermit() {
        AcquireRequest request = AcquireRequest.of("backup");

        assertThat(factory.reuseTerms(request, true)).isNotNull();
        assertThat(factory.reuseTerms(request.withShare("acme"), true)).isNull();
    }
}
