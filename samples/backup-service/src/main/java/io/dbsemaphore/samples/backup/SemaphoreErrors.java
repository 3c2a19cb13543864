package io.dbsemaphore.samples.backup;

import io.dbsemaphore.PermitsUnavailableException;
import java.time.Duration;
import java.time.Instant;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Turns a refused acquire into 429 with {@code Retry-After}. */
@RestControllerAdvice
class SemaphoreErrors {

    private static final long LONGEST_WAIT = 30;

    @ExceptionHandler
    ResponseEntity<ProblemDetail> unavailable(PermitsUnavailableException e) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(HttpStatus.TOO_MANY_REQUESTS, e.getMessage());
        return ResponseEntity.of(problem)
                .header(HttpHeaders.RETRY_AFTER, Long.toString(retryAfter(e)))
                .build();
    }

    /** Seconds until the earliest expiry, within bounds: most holders release long before they expire. */
    private static long retryAfter(PermitsUnavailableException e) {
        long untilExpiry = e.earliestExpiry()
                .map(expiry -> Duration.between(Instant.now(), expiry).toSeconds())
                .orElse(LONGEST_WAIT);
        return Math.max(1, Math.min(untilExpiry, LONGEST_WAIT));
    }
}
