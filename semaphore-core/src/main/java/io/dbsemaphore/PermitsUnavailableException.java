package io.dbsemaphore;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The permits did not become free within the wait time. Nothing is held; trying again later may succeed. Carries what a
 * web layer needs to answer 429 with {@code Retry-After}.
 */
public class PermitsUnavailableException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    private final transient List<PermitShortage> shortages;

    /** Creates an exception for the semaphores that had no room, for a caller that did not wait. */
    public PermitsUnavailableException(List<PermitShortage> shortages) {
        this(shortages, Duration.ZERO);
    }

    /** Creates an exception for the semaphores that had no room, for a caller that waited so long. */
    public PermitsUnavailableException(List<PermitShortage> shortages, Duration waitTime) {
        super(message(shortages, waitTime));
        this.shortages = List.copyOf(shortages);
    }

    /** The semaphores that had no room, each with its numbers. */
    public List<PermitShortage> shortages() {
        return shortages;
    }

    /**
     * The first instant at which trying again may succeed if nobody releases before: the latest of the earliest
     * expiries. Empty where a semaphore has no expiry to wait for.
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
            return "Semaphore '%s' has no permit to spare: %d of %d held, %d requested, %d withheld for callers that wait already"
                    .formatted(
                            shortage.name(),
                            shortage.held(),
                            shortage.capacity(),
                            shortage.requested(),
                            shortage.withheld());
        }
        String numbers = "Semaphore '%s' has no room for %d permit(s): %d of %d held"
                .formatted(shortage.name(), shortage.requested(), shortage.held(), shortage.capacity());
        return shortage.capacity() == 0
                ? numbers + " (paused)"
                : numbers
                        + shortage.earliestExpiry()
                                .map(expiry -> ", the first expires at " + expiry)
                                .orElse("");
    }
}
