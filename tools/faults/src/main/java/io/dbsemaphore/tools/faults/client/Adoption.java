package io.dbsemaphore.tools.faults.client;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.tools.faults.Workload;
import io.dbsemaphore.tools.faults.oracle.Event;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Repeats the acquires that the predecessor of this client was killed with, as a restarted job does. */
final class Adoption implements Runnable {

    private static final int MOST = 3;

    private final Caller caller;
    private final List<Event> unfinished;

    Adoption(Caller caller, List<Event> unfinished) {
        this.caller = caller;
        this.unfinished = unfinished;
    }

    @Override
    public void run() {
        for (Event each : unfinished) {
            String request = caller.newRequest();
            Optional<PermitGrant> grant = caller.acquire(request, repeated(each), each.numbers());
            grant.ifPresent(held -> caller.release(request, held));
        }
    }

    /** The same permits; an exclusive acquire asked for all of them. */
    private AcquireRequest repeated(Event acquire) {
        AcquireRequest repeated = AcquireRequest.of(acquire.numbers().keySet().toArray(String[]::new));
        for (Map.Entry<String, Long> each : acquire.numbers().entrySet()) {
            repeated = each.getValue() > MOST
                    ? repeated.exclusive()
                    : repeated.withPermits(each.getKey(), each.getValue().intValue());
        }
        return repeated.withExternalId(acquire.externalId())
                .withKeepAlive(false)
                .withTtl(Workload.LONGEST_TTL);
    }
}
