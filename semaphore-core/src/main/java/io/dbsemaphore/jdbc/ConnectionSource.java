package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/** Where a thread takes its connections from, if it is not the shared sessions. */
@FunctionalInterface
interface ConnectionSource {

    Connection borrow() throws SQLException;
}
