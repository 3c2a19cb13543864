package io.dbsemaphore.persistence.unit;

import org.hibernate.engine.jdbc.connections.spi.DatabaseConnectionInfo;
import org.hibernate.engine.jdbc.env.internal.JdbcEnvironmentInitiator;

/** Leaves out the block about the database in the log: the application's Hibernate has written one, or there is none. */
public final class QuietJdbcEnvironment extends JdbcEnvironmentInitiator {

    @Override
    protected void logConnectionInfo(DatabaseConnectionInfo info) {
        // the same database as the application's
    }
}
