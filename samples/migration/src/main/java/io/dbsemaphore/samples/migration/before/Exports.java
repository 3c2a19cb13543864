package io.dbsemaphore.samples.migration.before;

import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;

/** Curator's InterProcessSemaphoreV2. */
public class Exports {

    private final InterProcessSemaphoreV2 semaphore;

    public Exports(CuratorFramework curator) {
        semaphore = new InterProcessSemaphoreV2(curator, "/exports", 3);
    }

    public void export(Runnable work) throws Exception {
        Lease lease = semaphore.acquire(10, TimeUnit.SECONDS);
        if (lease == null) {
            throw new IllegalStateException("Three exports are running");
        }
        try {
            work.run();
        } finally {
            semaphore.returnLease(lease);
        }
    }
}
