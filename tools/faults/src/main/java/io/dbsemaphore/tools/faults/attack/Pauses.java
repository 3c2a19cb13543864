package io.dbsemaphore.tools.faults.attack;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Pauses that end when the attacks do. */
final class Pauses {

    private final CountDownLatch stopped = new CountDownLatch(1);

    void pause(long millis) throws InterruptedException {
        boolean unused = stopped.await(millis, TimeUnit.MILLISECONDS);
    }

    boolean isStopped() {
        return stopped.getCount() == 0;
    }

    void stop() {
        stopped.countDown();
    }
}
