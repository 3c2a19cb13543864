package io.dbsemaphore.tools.faults.client;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.tools.faults.Workload;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Acquires with one share again and again, so that callers of all shares wait at most times. */
final class SharingCaller implements Runnable {

    private static final Duration TTL = Duration.ofSeconds(2);
    private static final Duration WAIT = Duration.ofSeconds(20);
    private static final int HOLD_MILLIS = 20;

    private final Caller caller;
    private final String share;
    private final Random random;
    private final CountDownLatch stopped;

    SharingCaller(Caller caller, String share, Random random, CountDownLatch stopped) {
        this.caller = caller;
        this.share = share;
        this.random = random;
        this.stopped = stopped;
    }

    @Override
    public void run() {
        AcquireRequest wanted = AcquireRequest.of(Workload.SHARED)
                .withShare(share)
                .withKeepAlive(false)
                .withTtl(TTL)
                .withWaitTime(WAIT);
        try {
            boolean stop = false;
            while (!stop) {
                String request = caller.newRequest();
                Optional<PermitGrant> grant = caller.acquire(request, wanted, Map.of(Workload.SHARED, 1L), share);
                stop = stopped.await(random.nextInt(HOLD_MILLIS), TimeUnit.MILLISECONDS);
                grant.ifPresent(held -> caller.release(request, held));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
