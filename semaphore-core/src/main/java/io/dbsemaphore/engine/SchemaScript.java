package io.dbsemaphore.engine;

import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.persistence.SemaphorePersistence;
import io.dbsemaphore.persistence.unit.Sql;
import io.dbsemaphore.persistence.unit.TableCheck;
import io.dbsemaphore.persistence.unit.TransactionFailures;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Objects;
import javax.sql.DataSource;

/**
 * The SQL script that creates the tables of the semaphores on a database. It can be run again: it adds missing tables and columns, and
 * leaves the rest unchanged. Immutable.
 */
public final class SchemaScript {

    private final DataSource dataSource;
    private final Database database;
    private final String tablePrefix;

    SchemaScript(DataSource dataSource, Database database, String tablePrefix) {
        this.dataSource = dataSource;
        this.database = database;
        this.tablePrefix = tablePrefix;
    }

    /** {@return the database that the script is for} */
    public DataSource dataSource() {
        return dataSource;
    }

    /** {@return the class path location of the script, before the configured prefix of the tables is added} */
    public String location() {
        return "db/dbsemaphore/sql/%s.sql".formatted(database.name().toLowerCase(Locale.ROOT));
    }

    /** {@return the statements, with the configured prefix of the tables} */
    public String sql() {
        try (InputStream script = SchemaScript.class.getClassLoader().getResourceAsStream(location())) {
            return Sql.withPrefix(
                    new String(Objects.requireNonNull(script, location()).readAllBytes(), StandardCharsets.UTF_8),
                    tablePrefix);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /**
     * Checks whether tables or columns are missing, or another process is changing them. Returns false if the tables cannot be read, or if
     * one belongs to another application and the script would change it: the engine later checks and reports this.
     *
     * @return whether to run the script
     */
    public boolean isNeeded() {
        try {
            return isIncomplete();
        } catch (SQLException unreadable) {
            return SqlErrors.isConflict(unreadable);
        }
    }

    /** Checks the tables, and again if the connection was cut since its last use: the next connection is new. */
    private boolean isIncomplete() throws SQLException {
        try {
            return TableCheck.isIncomplete(dataSource, SemaphorePersistence.ENTITIES, tablePrefix);
        } catch (SQLException unreadable) {
            if (!TransactionFailures.isConnectionBroken(unreadable)) {
                throw unreadable;
            }
            return TableCheck.isIncomplete(dataSource, SemaphorePersistence.ENTITIES, tablePrefix);
        }
    }
}
