package io.dbsemaphore;

import java.util.Map;
import java.util.TreeMap;

/**
 * The permits are no longer held: released, forced away, or past their expiry. Others may work under them; what was to
 * be protected by them is no longer.
 */
public class PermitLostException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    private final String externalId;

    /**
     * Creates an exception for a grant.
     *
     * @param permits what it held, where that is known
     */
    public PermitLostException(String externalId, Map<String, Integer> permits) {
        super(
                "The grant with external id '%s' is no longer held%s: released, forced away or past its expiry. Others may be"
                                .formatted(externalId, permits.isEmpty() ? "" : " (" + new TreeMap<>(permits) + ")")
                        + " working in its place; stop, and do not commit");
        this.externalId = externalId;
    }

    /** The external id. */
    public String externalId() {
        return externalId;
    }
}
