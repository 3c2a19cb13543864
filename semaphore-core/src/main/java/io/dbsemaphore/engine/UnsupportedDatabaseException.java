package io.dbsemaphore.engine;

import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.persistence.Drill;
import io.dbsemaphore.spi.StartFailure;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;

/**
 * Thrown when the database, its tables or an option of the driver keep an engine from enforcing semaphores, or when the data source throws
 * exceptions other than {@link SQLException}.
 */
public final class UnsupportedDatabaseException extends IllegalStateException implements StartFailure {

    private static final long serialVersionUID = 1L;

    private static final String SUPPORTED = "MySQL 8.4+, MariaDB 10.11+, PostgreSQL 15+ and H2 2.4";

    private static final String LOCKS_NOTHING = "It accepts SELECT ... FOR UPDATE and locks nothing by it";
    private static final String REFUSES = "It has no row locks: it rejects SELECT ... FOR UPDATE";

    /** The reasons, by the beginning of the product's name. */
    private static final Map<String, String> REASONS = Map.of(
            "HSQL", LOCKS_NOTHING,
            "Apache Derby", LOCKS_NOTHING,
            "Firebird", "It keeps a row lock of SELECT ... FOR UPDATE only with the clause WITH LOCK",
            "SQLite", REFUSES,
            "DuckDB", REFUSES);

    private static final String ACTION = """
            Do one of these:

                - Set semaphore.datasource to the name of a DataSource bean whose database is one of %s

                - Disable semaphores: semaphore.enabled=false""";

    /** The value of {@link #database()}. */
    private final String database;

    /** The problem. */
    private final String description;
    /** The action. */
    private final String action;

    private UnsupportedDatabaseException(String message, String database, String description, String action) {
        super(message);
        this.database = database;
        this.description = description;
        this.action = action;
    }

    static UnsupportedDatabaseException ofDatabase(String database) {
        return new UnsupportedDatabaseException(
                "Semaphores are not supported on %s. Use one of %s, and name its DataSource with semaphore.datasource"
                        .formatted(database, SUPPORTED),
                database,
                "Semaphores are not supported on %s, the database of the DataSource chosen for them.%s"
                        .formatted(database, reason(database)),
                ACTION.formatted(SUPPORTED));
    }

    private static String reason(String database) {
        return REASONS.entrySet().stream()
                .filter(reason -> database.startsWith(reason.getKey()))
                .map(reason -> " " + reason.getValue() + ", so more permits than the capacity would be granted.")
                .findFirst()
                .orElse("");
    }

    static UnsupportedDatabaseException ofOption(String option) {
        if (option.equals(Database.LOAD_BALANCING_URL)) {
            return of(
                    option,
                    "The URL of the DataSource for semaphores begins with %s. Its driver changes the session at each commit and rollback, so that settings of the semaphores, such as a lock wait timeout of 1s, would stay in sessions of the application.",
                    "Use jdbc:mysql: with several hosts, which changes the server after a failure only, or jdbc:mysql:replication: with one source.");
        }
        return of(
                option,
                "The driver of the DataSource for semaphores has the option %s, with which their grants would be wrong.",
                "Remove %s from its URL or properties.");
    }

    private static UnsupportedDatabaseException of(String seen, String descriptionFormat, String actionFormat) {
        String description = descriptionFormat.formatted(seen);
        String action = actionFormat.formatted(seen);
        return new UnsupportedDatabaseException(description + " " + action, seen, description, action);
    }

    /** Translates an exception of a data source; empty for an {@link SQLException} or an exception of the library. */
    static Optional<UnsupportedDatabaseException> ofDataSource(RuntimeException failure) {
        Throwable seen = NestedExceptionUtils.getMostSpecificCause(failure);
        if (failure instanceof StartFailure
                || seen instanceof DataAccessException
                || SqlErrors.root(failure).isPresent()) {
            return Optional.empty();
        }
        UnsupportedDatabaseException refusal = of(
                seen.toString(),
                "The DataSource for semaphores has thrown an exception that is not an SQLException: %s. The library can neither repeat nor explain transactions that fail like this.",
                "If something in front of the database parses or routes statements, such as ShardingSphere-JDBC, give the semaphores a DataSource of their own that is connected to the database itself: set semaphore.datasource to the name of its bean, or set semaphore.datasource.url.");
        refusal.initCause(failure);
        return Optional.of(refusal);
    }

    static UnsupportedDatabaseException ofDrill(Drill.Deviation deviation) {
        String description =
                "Semaphores would not be enforced here. The start has tested their tables with rows that it has rolled back. "
                        + deviation.getMessage();
        String action = deviation.action();
        UnsupportedDatabaseException refusal = new UnsupportedDatabaseException(
                description + ". " + action, String.valueOf(deviation.getMessage()), description, action);
        refusal.initCause(deviation);
        return refusal;
    }

    /**
     * Returns what is not supported.
     *
     * @return the product and version of the database; the name and value of an option of the driver, or the beginning of the URL; the
     *     expected and actual results of a test of the tables; or the exception of the data source
     */
    public String database() {
        return database;
    }

    /** {@return the supported databases with their versions, as text} */
    public String supported() {
        return SUPPORTED;
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public String action() {
        return action;
    }
}
