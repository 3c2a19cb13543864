package io.dbsemaphore;

import java.util.Map;
import java.util.TreeMap;

/**
 * Thrown when permits are no longer held: they were released, by the holder or by an operator, or have expired. Another holder may have
 * acquired them, so work that they were meant to protect is no longer protected.
 */
public class PermitLostException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    /** The external id of the grant. */
    private final String externalId;

    /**
     * Creates an exception for a grant.
     *
     * @param externalId the external id of the grant
     * @param permits the permits that it held, for each semaphore; empty if unknown
     */
    public PermitLostException(String externalId, Map<String, Integer> permits) {
        super(
                "The grant with external id '%s' is no longer held%s: it was released, forced away or has expired. Another"
                                .formatted(externalId, permits.isEmpty() ? "" : " (" + new TreeMap<>(permits) + ")")
                        + " holder may have acquired its permits; stop the work, and do not commit");
        this.externalId = externalId;
    }

    /** {@return the external id of the grant} */
    public String externalId() {
        return externalId;
    }
}
