package io.dbsemaphore.engine;

import io.dbsemaphore.PermitGrant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The grants that are kept alive, and the end of those that are lost: each is told once, whoever finds it. */
final class KeptGrants {

    private static final Logger log = LoggerFactory.getLogger(KeptGrants.class);

    private final HeldGrants held;
    private final Listeners listeners;
    private final Map<Long, KeptGrant> byRequest = new ConcurrentHashMap<>();

    KeptGrants(HeldGrants held, Listeners listeners) {
        this.held = held;
        this.listeners = listeners;
    }

    void add(KeptGrant grant) {
        byRequest.put(grant.requestId(), grant);
    }

    void remove(long requestId) {
        byRequest.remove(requestId);
    }

    boolean isEmpty() {
        return byRequest.isEmpty();
    }

    int size() {
        return byRequest.size();
    }

    List<KeptGrant> all(Predicate<KeptGrant> which) {
        return byRequest.values().stream().filter(which).toList();
    }

    long nanosToNextDue() {
        return byRequest.values().stream()
                .mapToLong(KeptGrant::nanosToDue)
                .min()
                .orElse(Long.MAX_VALUE);
    }

    /** Ends a grant that was found to be lost; false when it was given back meanwhile, or somebody else found it. */
    boolean end(KeptGrant grant) {
        return byRequest.remove(grant.requestId(), grant) && held.lose(grant.state());
    }

    /** Ends a grant that was found to be lost, and tells it where this JVM held it, be it not kept alive. */
    void lose(GrantState state, PermitGrant handle) {
        KeptGrant kept = byRequest.get(state.grant().requestId());
        boolean wasKept = kept != null && kept.state() == state && byRequest.remove(kept.requestId(), kept);
        boolean ofThisJvm = wasKept || held.holds(state);
        if (held.lose(state) && ofThisJvm) {
            tell(handle);
        }
    }

    /** Tells of grants that have been ended. Never under a lock: listeners are the host's code. */
    void tell(Collection<KeptGrant> lost) {
        lost.forEach(grant -> tell(grant.handle()));
    }

    private void tell(PermitGrant lost) {
        log.warn(
                "{} was lost: it was not renewed in time, or was taken away. Others may work in its place; what it was to"
                        + " protect is protected no longer",
                lost);
        listeners.tell(listener -> listener.lost(lost));
    }
}
