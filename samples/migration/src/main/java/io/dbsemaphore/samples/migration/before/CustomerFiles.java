package io.dbsemaphore.samples.migration.before;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.springframework.integration.support.locks.LockRegistry;

/** Files that one instance writes at a time. */
public class CustomerFiles {

    private final LockRegistry<?> locks;

    public CustomerFiles(LockRegistry<?> locks) {
        this.locks = locks;
    }

    public void write(String customer, Runnable work) throws InterruptedException {
        Lock lock = locks.obtain("customer:" + customer);
        if (!lock.tryLock(5, TimeUnit.SECONDS)) {
            throw new IllegalStateException("The file of " + customer + " is in use");
        }
        try {
            work.run();
        } finally {
            lock.unlock();
        }
    }
}
