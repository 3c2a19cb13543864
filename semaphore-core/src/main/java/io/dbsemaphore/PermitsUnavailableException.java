package io.dbsemaphore;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when the wait time ended without permits, or earlier because {@code max-waiting} other callers waited. Nothing is held, and a later
 * attempt may succeed. Carries the data that a web layer needs to answer with status 429 and {@code Retry-After}.
 */
public class PermitsUnavailableException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    private static final String MAX_WAITING = "max-waiting";

    private static final String PER_SHARE = "max-waiting-per-share";

    /** Null in an exception that was deserialized. */
    private final transient @Nullable List<PermitShortage> shortages;

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
        this(shortages, waitTime, List.of(), name -> List.of());
    }

    /**
     * Creates an exception that says who holds the permits.
     *
     * @param own the grants that the caller runs under
     * @param firstHolders finds some holders of a semaphore's permits
     */
    PermitsUnavailableException(
            List<PermitShortage> shortages,
            Duration waitTime,
            List<PermitGrant> own,
            Function<String, List<String>> firstHolders) {
        super(message(shortages, waitTime, own, firstHolders));
        this.shortages = List.copyOf(shortages);
    }

    /**
     * Returns the semaphores without enough available permits, each with its numbers.
     *
     * @return the shortages; empty if this exception was serialized, which keeps only its message
     */
    public List<PermitShortage> shortages() {
        return shortages == null ? List.of() : shortages;
    }

    /**
     * Returns when another attempt may succeed even if no holder releases: the time at which each of the semaphores has a permit that has
     * expired, by the database's clock. This is a lower bound, because grants that are renewed or kept alive last longer.
     *
     * @return the time; empty if one of the semaphores has no permit that expires
     */
    public Optional<Instant> earliestExpiry() {
        if (shortages().stream().anyMatch(shortage -> shortage.earliestExpiry().isEmpty())) {
            return Optional.empty();
        }
        return shortages().stream()
                .flatMap(shortage -> shortage.earliestExpiry().stream())
                .max(Comparator.naturalOrder());
    }

    /**
     * Returns an estimate of how much longer the caller would have waited; see {@link QueuePosition#expectedWait}.
     *
     * @return the longest of the expected waits; empty if one of them is not known
     */
    public Optional<Duration> expectedWait() {
        if (shortages().stream().anyMatch(shortage -> shortage.expectedWait().isEmpty())) {
            return Optional.empty();
        }
        return shortages().stream()
                .flatMap(shortage -> shortage.expectedWait().stream())
                .max(Comparator.naturalOrder());
    }

    /** Concatenates: a hundred thousand callers may be refused within a second, and a format costs ten times as much. */
    private static String message(
            List<PermitShortage> shortages,
            Duration waitTime,
            List<PermitGrant> own,
            Function<String, List<String>> firstHolders) {
        StringBuilder message = new StringBuilder();
        boolean blocksItself = false;
        boolean isQueueFull = false;
        boolean isFullForShare = false;
        boolean isFullForAll = false;
        for (PermitShortage shortage : shortages) {
            int held = heldBy(own, shortage.name());
            message.append(message.isEmpty() ? "" : "; ").append(describe(shortage, held, firstHolders));
            isQueueFull |= shortage.isQueueFull();
            isFullForShare |= shortage.fullShare().isPresent();
            isFullForAll |= shortage.isQueueFull() && shortage.fullShare().isEmpty();
            blocksItself |= held > 0 && held + shortage.requested() > shortage.capacity();
        }
        return message.append(". Nothing was acquired")
                .append(waitTime.isZero() || isQueueFull ? "" : " within " + waitTime)
                .append(
                        blocksItself
                                ? "; it cannot succeed before the calling thread has released its permits, unless the"
                                        + " capacity is raised"
                                : isQueueFull
                                        ? "; try again later, or raise "
                                                + (isFullForAll ? MAX_WAITING : "")
                                                + (isFullForAll && isFullForShare ? " and " : "")
                                                + (isFullForShare ? PER_SHARE : "")
                                                + " to let more callers wait"
                                        : "; trying again later may succeed. SemaphoreAdmin.holders lists all holders")
                .toString();
    }

    private static int heldBy(List<PermitGrant> own, String name) {
        int held = 0;
        for (PermitGrant grant : own) {
            held += grant.isHeld() ? grant.permits().getOrDefault(name, 0) : 0;
        }
        return held;
    }

    private static String describe(PermitShortage shortage, int own, Function<String, List<String>> firstHolders) {
        String held = shortage.held() + " of " + shortage.capacity() + " held"
                + (own == 0
                        ? shortage.held() == 0 ? "" : holders(firstHolders.apply(shortage.name()))
                        : ", " + own + " of them by the calling thread itself, and semaphores are not re-entrant");
        String ofShare =
                shortage.fullShare().map(share -> " with share '" + share + "'").orElse("");
        String limit = (ofShare.isEmpty() ? MAX_WAITING : PER_SHARE) + " is "
                + shortage.maxWaiting().orElse(0) + ", " + held;
        if (shortage.displaced()) {
            return "A newer caller" + ofShare + " took the place of this one in the queue of semaphore '"
                    + shortage.name() + "' (on-full=keep-newest): " + limit;
        }
        if (shortage.isQueueFull()) {
            return "Semaphore '" + shortage.name() + "' lets no more callers" + ofShare + " wait: " + shortage.ahead()
                    + " wait, " + limit;
        }
        String ahead = shortage.ahead() == 0 ? "" : ", at least " + shortage.ahead() + " ahead in the queue";
        if (shortage.capacity() == 0) {
            return "Semaphore '" + shortage.name() + "' is paused: " + held + ahead;
        }
        if (shortage.isWithheld()) {
            return "Semaphore '" + shortage.name() + "' has no permits for this request: " + held + ", "
                    + shortage.requested() + " requested, " + shortage.withheld()
                    + " withheld for callers that are already waiting" + ahead;
        }
        return "Semaphore '" + shortage.name() + "' does not have " + shortage.requested() + " permit(s) available: "
                + held + ahead + (own == 0 ? expiry(shortage) : "");
    }

    /** The holders may have been read a second before the numbers. */
    private static String holders(List<String> first) {
        return first.isEmpty() ? "" : ", in the last second longest by " + String.join(", ", first);
    }

    /** Does not call it an expiry: a grant that is kept alive is extended before it expires. */
    private static String expiry(PermitShortage shortage) {
        return shortage.earliestExpiry()
                .map(expiry -> "; without a release, none becomes available before " + expiry)
                .orElse("");
    }
}
