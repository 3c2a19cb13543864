package io.dbsemaphore.samples.backup;

import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreNotFoundException;
import java.time.Duration;
import java.time.Instant;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** What HTTP clients are told when a semaphore says no. */
@RestControllerAdvice
class SemaphoreErrors {

    private static final Duration SHORTEST_WAIT = Duration.ofSeconds(1);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(30);

    @ExceptionHandler
    ResponseEntity<ProblemDetail> unavailable(PermitsUnavailableException e) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(HttpStatus.TOO_MANY_REQUESTS, e.getMessage());
        return ResponseEntity.of(problem)
                .header(HttpHeaders.RETRY_AFTER, Long.toString(retryAfter(e).toSeconds()))
                .build();
    }

    @ExceptionHandler
    ProblemDetail notFound(SemaphoreNotFoundException e) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.NOT_FOUND, e.getMessage());
    }

    /** At the earliest expiry there is room for certain; holders that release make some much earlier. */
    private static Duration retryAfter(PermitsUnavailableException e) {
        Duration untilExpiry = e.earliestExpiry()
                .map(expiry -> Duration.between(Instant.now(), expiry))
                .orElse(LONGEST_WAIT);
        if (untilExpiry.compareTo(SHORTEST_WAIT) < 0) {
            return SHORTEST_WAIT;
        }
        return untilExpiry.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : untilExpiry;
    }
}
