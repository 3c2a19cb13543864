package io.dbsemaphore.persistence.unit;

import org.hibernate.engine.jdbc.internal.Formatter;
import org.hibernate.engine.jdbc.spi.SqlStatementLogger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs the SQL of the library's persistence unit under a separate logger name, so that {@code org.hibernate.SQL} shows the
 * statements of the application only, and those of the library can be disabled.
 */
public final class LibrarySqlLogger extends SqlStatementLogger {

    private static final long serialVersionUID = 1L;
    private static final Logger log = LoggerFactory.getLogger("io.dbsemaphore.sql");

    @Override
    public void logStatement(String statement, Formatter formatter) {
        log(statement);
    }

    /** Logs a statement that is not executed by Hibernate. */
    static void log(String statement) {
        log.debug("{}", statement);
    }
}
