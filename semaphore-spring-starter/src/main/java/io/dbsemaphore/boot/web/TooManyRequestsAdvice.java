package io.dbsemaphore.boot.web;

import io.dbsemaphore.PermitsUnavailableException;
import java.time.Duration;
import java.time.Instant;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.ResponseStatus;

/**
 * Answers with status 429, a {@code Retry-After} header and a problem detail if a controller was refused permits, in Spring MVC and in
 * WebFlux. The answer does not tell clients the names and numbers of the semaphores.
 *
 * <p>It comes last: a handler of the application for the exception or one of its superclasses wins. So does the status of an exception of
 * the application whose cause is the refusal.
 */
@ControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE)
class TooManyRequestsAdvice {

    /** Most permits are released long before they expire. */
    private static final long LONGEST_WAIT_SECONDS = 10;

    /** Answers the refusal. Spring also matches causes: it gets back an exception that has a status of its own. */
    @ExceptionHandler(PermitsUnavailableException.class)
    ResponseEntity<ProblemDetail> answer(Throwable thrown, PermitsUnavailableException refused) throws Throwable {
        for (Throwable each = thrown; each != null && each != refused; each = each.getCause()) {
            if (each instanceof ErrorResponse
                    || AnnotatedElementUtils.hasAnnotation(each.getClass(), ResponseStatus.class)) {
                throw thrown;
            }
        }
        long seconds = refused.expectedWait()
                .map(expected -> expected.toSeconds() + 1)
                .or(() -> refused.earliestExpiry()
                        .map(expiry -> Duration.between(Instant.now(), expiry).toSeconds()))
                .orElse(LONGEST_WAIT_SECONDS);
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(
                HttpStatus.TOO_MANY_REQUESTS,
                "As many requests as are allowed at the same time are under way. Try again later.");
        return ResponseEntity.status(HttpStatus.TOO_MANY_REQUESTS)
                .header(HttpHeaders.RETRY_AFTER, String.valueOf(Math.max(1, Math.min(seconds, LONGEST_WAIT_SECONDS))))
                .body(problem);
    }
}
