package io.dbsemaphore.tools.faults.client;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/** Takes all connections of the application's pool from time to time, as slow transactions of an application do. */
final class PoolExhaustion implements Runnable {

    private static final int EVERY = 30_000;
    private static final int FOR = 2_000;

    private final Caller caller;
    private final DataSource pool;
    private final int size;
    private final Random random;
    private final CountDownLatch stopped;

    PoolExhaustion(Caller caller, DataSource pool, int size, Random random, CountDownLatch stopped) {
        this.caller = caller;
        this.pool = pool;
        this.size = size;
        this.random = random;
        this.stopped = stopped;
    }

    @Override
    public void run() {
        try {
            while (!stopped.await(random.nextInt(EVERY), TimeUnit.MILLISECONDS)) {
                takeAll();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void takeAll() throws InterruptedException {
        caller.tellFault("pool-exhausted");
        List<Connection> taken = new ArrayList<>();
        try {
            while (taken.size() < size) {
                taken.add(pool.getConnection());
            }
            boolean unused = stopped.await(random.nextInt(FOR), TimeUnit.MILLISECONDS);
        } catch (SQLException busy) {
            // The library, or the server that is away, has the rest
        } finally {
            taken.forEach(PoolExhaustion::giveBack);
        }
    }

    private static void giveBack(Connection connection) {
        try {
            connection.close();
        } catch (SQLException e) {
            // It was cut
        }
    }
}
