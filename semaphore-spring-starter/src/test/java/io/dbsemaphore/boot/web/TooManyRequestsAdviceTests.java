package io.dbsemaphore.boot.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.PermitsUnavailableException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpHeaders;

class TooManyRequestsAdviceTests {

    private static final Optional<Instant> IN_FIVE_SECONDS =
            Optional.of(Instant.now().plusSeconds(5));

    @Test
    void tellsTheExpectedWaitInWholeSeconds() throws Throwable {
        assertThat(retryAfter(shortage(Optional.of(Duration.ofMillis(2_300)), IN_FIVE_SECONDS)))
                .isEqualTo("3");
        assertThat(retryAfter(shortage(Optional.of(Duration.ZERO), Optional.empty())))
                .isEqualTo("1");
        assertThat(retryAfter(shortage(Optional.of(Duration.ofHours(2)), Optional.empty())))
                .as("at most")
                .isEqualTo("10");
    }

    @Test
    void tellsTheLongestOfSeveralExpectedWaits() throws Throwable {
        assertThat(retryAfter(
                        shortage(Optional.of(Duration.ofSeconds(1)), IN_FIVE_SECONDS),
                        shortage(Optional.of(Duration.ofSeconds(3)), IN_FIVE_SECONDS)))
                .isEqualTo("4");
    }

    @Test
    void otherwiseTellsWhenAPermitExpires() throws Throwable {
        assertThat(retryAfter(shortage(Optional.empty(), IN_FIVE_SECONDS))).isIn("3", "4", "5");
        assertThat(retryAfter(shortage(Optional.empty(), Optional.empty()))).isEqualTo("10");
    }

    private static String retryAfter(PermitShortage... shortages) throws Throwable {
        PermitsUnavailableException refused = new PermitsUnavailableException(Arrays.asList(shortages));
        return new TooManyRequestsAdvice().answer(refused, refused).getHeaders().getFirst(HttpHeaders.RETRY_AFTER);
    }

    private static PermitShortage shortage(Optional<Duration> expectedWait, Optional<Instant> earliestExpiry) {
        PermitShortage shortage =
                new PermitShortage("backup", 1, 1, 1, earliestExpiry, 0, 3, OptionalInt.empty(), false);
        return expectedWait.map(shortage::withExpectedWait).orElse(shortage);
    }
}
