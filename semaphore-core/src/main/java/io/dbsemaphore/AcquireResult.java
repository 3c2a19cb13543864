package io.dbsemaphore;

import java.util.List;

/** How an acquire ended: "not acquired" is a value, an exception only where acquiring was demanded. */
public sealed interface AcquireResult {

    /** The permits are held. */
    record Granted(PermitGrant grant) implements AcquireResult {}

    /** The permits did not become free within the wait time; nothing is held. */
    record Unavailable(List<PermitShortage> shortages) implements AcquireResult {

        /** Copies the list. */
        public Unavailable {
            shortages = List.copyOf(shortages);
        }
    }
}
