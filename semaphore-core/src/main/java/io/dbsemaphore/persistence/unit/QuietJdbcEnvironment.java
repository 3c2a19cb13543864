package io.dbsemaphore.persistence.unit;

import org.hibernate.engine.jdbc.connections.spi.DatabaseConnectionInfo;
import org.hibernate.engine.jdbc.env.internal.JdbcEnvironmentInitiator;

/** Suppresses Hibernate's log message about the database, which the application's own Hibernate writes if there is one. */
public final class QuietJdbcEnvironment extends JdbcEnvironmentInitiator {

    @Override
    protected void logConnectionInfo(DatabaseConnectionInfo info) {
        // the same database as the application's
    }
}
