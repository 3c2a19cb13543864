package io.dbsemaphore.persistence;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.jdbc.Sessions;
import io.dbsemaphore.testing.TestSettings;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/** The transactions on a pool, without an engine. */
record OpenPersistence(Sessions sessions, SemaphorePersistence transactions) implements AutoCloseable {

    static OpenPersistence on(DataSource pool) throws SQLException {
        Duration limit = Duration.ofSeconds(20);
        Database database = Database.of(pool);
        Sessions sessions =
                new Sessions(pool, database, limit, limit, 2, true, new DatabaseThreads(2, new DaemonThreads()));
        return new OpenPersistence(
                sessions, SemaphorePersistence.open(sessions, database, "", limit, TestSettings.oneTripFrom(), null));
    }

    @Override
    public void close() {
        transactions.unit().close();
        sessions.close();
    }
}
