package io.dbsemaphore.tools.faults.oracle;

import java.util.Collection;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * While the server's clock is stepped nobody knows when a grant expires: nothing is surely held from the begin of a step on, until it
 * is acquired after its end.
 */
final class ServerClock {

    private static final Set<String> STEPS = Set.of(Event.CLOCK_BACK, Event.CLOCK_FORWARD);

    private boolean stepping;

    /** @param open all requests that have not ended, this one among them */
    void accept(Event event, @Nullable Hold hold, Collection<Hold> open) {
        if (event.kind() == Event.Kind.FAULT && STEPS.contains(event.detail())) {
            stepping = true;
            open.forEach(each -> each.ends(event.nanos()));
        } else if (event.kind() == Event.Kind.CALM && event.client().equals(Event.SERVER)) {
            stepping = false;
        } else if (stepping && hold != null) {
            hold.ends(event.nanos());
        }
    }
}
