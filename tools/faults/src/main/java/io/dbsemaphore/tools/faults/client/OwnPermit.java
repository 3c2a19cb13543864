package io.dbsemaphore.tools.faults.client;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.tools.faults.Workload;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Holds the permit of this client for as long as it can, so that the time is known for which a killed client's permit is away. */
final class OwnPermit implements Runnable {

    private static final Duration WAIT = Duration.ofMinutes(1);
    private static final Duration LOOK = Duration.ofMillis(100);

    private final Caller caller;
    private final String name;
    private final CountDownLatch stopped;

    OwnPermit(Caller caller, String name, CountDownLatch stopped) {
        this.caller = caller;
        this.name = name;
        this.stopped = stopped;
    }

    @Override
    public void run() {
        AcquireRequest wanted = AcquireRequest.of(name)
                .withKeepAlive(true)
                .withTtl(Workload.KEPT_ALIVE)
                .withWaitTime(WAIT);
        try {
            boolean stop = false;
            while (!stop) {
                String request = caller.newRequest();
                Optional<PermitGrant> grant = caller.acquire(request, wanted, Map.of(name, 1L));
                do {
                    stop = stopped.await(LOOK.toMillis(), TimeUnit.MILLISECONDS);
                } while (!stop && grant.isPresent() && grant.get().isHeld());
                grant.ifPresent(held -> caller.release(request, held));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
