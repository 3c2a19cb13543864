package io.dbsemaphore.tools.faults.client;

import io.dbsemaphore.tools.faults.oracle.Event.Kind;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/**
 * Tells the oracle when the pool, used without the library, reaches the server again. A pool pauses between its attempts to connect,
 * longer and longer, so a restart is over for an application only some time after the server answers.
 */
final class ConnectionProbe implements Runnable {

    private static final int EVERY_MILLIS = 20;

    private final Caller caller;
    private final DataSource pool;
    private final CountDownLatch stopped;
    private boolean failed;

    ConnectionProbe(Caller caller, DataSource pool, CountDownLatch stopped) {
        this.caller = caller;
        this.pool = pool;
        this.stopped = stopped;
    }

    @Override
    public void run() {
        try {
            while (!stopped.await(EVERY_MILLIS, TimeUnit.MILLISECONDS)) {
                probe();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void probe() {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("select 1");
            if (failed) {
                caller.tell(Kind.CONNECTED, "", "");
            }
            failed = false;
        } catch (SQLException away) {
            failed = true;
        }
    }
}
