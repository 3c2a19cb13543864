package io.dbsemaphore.samples.recipes.http;

import io.dbsemaphore.PermitsUnavailableException;
import java.time.Duration;
import java.time.Instant;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Answers with status 429 and the seconds to wait, up to 10: most permits are released long before they expire. */
@RestControllerAdvice
public class TooManyRequests {

    private static final long LONGEST_WAIT = 10;

    @ExceptionHandler
    ResponseEntity<ProblemDetail> full(PermitsUnavailableException full) {
        long untilExpiry = full.earliestExpiry()
                .map(expiry -> Duration.between(Instant.now(), expiry).toSeconds())
                .orElse(LONGEST_WAIT);
        return ResponseEntity.of(ProblemDetail.forStatus(HttpStatus.TOO_MANY_REQUESTS))
                .header(HttpHeaders.RETRY_AFTER, String.valueOf(Math.max(1, Math.min(untilExpiry, LONGEST_WAIT))))
                .build();
    }
}
