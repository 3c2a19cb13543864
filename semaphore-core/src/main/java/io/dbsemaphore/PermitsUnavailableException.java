package io.dbsemaphore;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Thrown when permits did not become available within the wait time. Nothing is held, and a later attempt may succeed.
 * Carries what a web layer needs to answer with status 429 and {@code Retry-After}.
 */
public class PermitsUnavailableException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    private final transient List<PermitShortage> shortages;

    /**
     * Creates an exception for a caller that did not wait.
     *
     * @param shortages the semaphores without enough available permits
     */
    public PermitsUnavailableException(List<PermitShortage> shortages) {
        this(shortages, Duration.ZERO);
    }

    /**
     * Creates an exception for a caller that waited.
     *
     * @param shortages the semaphores without enough available permits
     * @param waitTime how long the caller was willing to wait
     */
    public PermitsUnavailableException(List<PermitShortage> shortages, Duration waitTime) {
        super(message(shortages, waitTime));
        this.shortages = List.copyOf(shortages);
    }

    /** {@return the semaphores without enough available permits, each with its numbers} */
    public List<PermitShortage> shortages() {
        return shortages;
    }

    /**
     * Returns the earliest time at which another attempt may succeed if no holder releases before: the latest of the
     * earliest expiries of the semaphores, by the database's clock.
     *
     * @return the time; empty if one of the semaphores has no permit that expires
     */
    public Optional<Instant> earliestExpiry() {
        if (shortages.stream().anyMatch(shortage -> shortage.earliestExpiry().isEmpty())) {
            return Optional.empty();
        }
        return shortages.stream()
                .flatMap(shortage -> shortage.earliestExpiry().stream())
                .max(Comparator.naturalOrder());
    }

    private static String message(List<PermitShortage> shortages, Duration waitTime) {
        String waited = waitTime.isZero() ? "" : " within " + waitTime;
        return shortages.stream().map(PermitsUnavailableException::describe).collect(Collectors.joining("; "))
                + ". Nothing was acquired%s; trying again later may succeed".formatted(waited);
    }

    private static String describe(PermitShortage shortage) {
        if (shortage.isWithheld()) {
            return "Semaphore '%s' has no permits for this request: %d of %d held, %d requested, %d withheld for callers that are already waiting"
                    .formatted(
                            shortage.name(),
                            shortage.held(),
                            shortage.capacity(),
                            shortage.requested(),
                            shortage.withheld());
        }
        String numbers = "Semaphore '%s' does not have %d permit(s) available: %d of %d held"
                .formatted(shortage.name(), shortage.requested(), shortage.held(), shortage.capacity());
        return shortage.capacity() == 0
                ? numbers + " (paused)"
                : numbers
                        + shortage.earliestExpiry()
                                .map(expiry -> ", the first expires at " + expiry)
                                .orElse("");
    }
}
