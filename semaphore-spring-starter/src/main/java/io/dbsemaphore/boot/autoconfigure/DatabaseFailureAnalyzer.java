package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.engine.DatabaseUnreachableException;
import io.dbsemaphore.engine.SemaphoreTableMismatchException;
import io.dbsemaphore.engine.SemaphoreTablesMissingException;
import io.dbsemaphore.jdbc.DatabaseUrl;
import io.dbsemaphore.jdbc.SqlErrors;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.env.Environment;

/**
 * Explains errors of a database, its driver, its pool or Liquibase that failed a start, as far as they concern the semaphores:
 *
 * <ul>
 *   <li>The changelog, whether the library or the application ran it, cannot create a table that exists: the SQL script or another
 *       application created the table.
 *   <li>The database of the semaphores cannot be reached, by the library or by the application's migrations.
 *   <li>The pool had no connection left for the library.
 *   <li>A MySQL server requires a primary key for each table, which Liquibase's own table lacks.
 * </ul>
 *
 * <p>A {@link io.dbsemaphore.spi.StartFailure} that such an error caused takes precedence.
 */
record DatabaseFailureAnalyzer(BeanFactory beanFactory, Environment environment) implements FailureAnalyzer {

    private static final String LIBRARY = "io.dbsemaphore.jdbc.";
    private static final String URL = "spring.datasource.url";
    private static final String ENGINE = "semaphoreEngine";

    /** The SQL states of "table exists", in the SQL standard and on PostgreSQL. */
    private static final Set<String> TABLE_EXISTS = Set.of("42S01", "42P07");

    private static final Pattern CHANGE_SET =
            Pattern.compile(Pattern.quote(SemaphoreTablesMissingException.CHANGELOG) + "::(\\w+)-\\d+::");

    /** The errors of Group Replication, for a write, and of sql_require_primary_key, for the creation of the table. */
    private static final Set<Integer> KEY_REQUIRED = Set.of(3098, 3750);

    /** The action if the SQL script has made the tables. */
    private static final String MADE_BY_SCRIPT = """
            Do one of these:
                - Stay with the script: remove the include of db/dbsemaphore/changelog.xml, or semaphore.liquibase.enabled
                - Let Liquibase take over: bring the tables up to date with the script of this version, record the change sets once as \
            executed with "liquibase changelog-sync" on a changelog that includes db/dbsemaphore/changelog.xml only, and set \
            semaphore.jdbc.initialize-schema=never""";

    private static final String CHANGELOG_TABLE = "DATABASECHANGELOG";

    private static final String ADD_KEY = """
            Execute one of these statements and start again:
                set persist sql_generate_invisible_primary_key = ON;   -- for tables created from now on

                alter table DATABASECHANGELOG add column pk bigint unsigned auto_increment primary key invisible;

            With Group Replication the first change set may have run without being recorded: drop its table \
            if the next start reports that it already exists.""";

    private static final String RAISE_POOL_SIZE = """
            An acquire within an open transaction needs a second connection, because it does not use that of the \
            transaction. Do one of these:

                - Raise spring.datasource.hikari.maximum-pool-size: above the number of transactions that acquire at \
            the same time, plus semaphore.jdbc.max-connections

                - Acquire before the transaction begins, as @WithPermits does on a @Transactional method""";

    private static final String OTHER_DATABASE = """


            If the semaphores are in a database other than that of the primary DataSource, annotate its DataSource bean with \
            @SemaphoreDataSource, or set semaphore.datasource to the name of the bean.""";

    private static final String DISABLE = " To start without semaphores: semaphore.enabled=false";

    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        return causes(failure)
                .flatMap(cause -> Stream.ofNullable(explain(cause, failure)))
                .findFirst()
                .orElse(null);
    }

    private static Stream<Throwable> causes(Throwable failure) {
        return Stream.iterate(failure, cause -> cause != null, Throwable::getCause);
    }

    private @Nullable FailureAnalysis explain(Throwable cause, Throwable failure) {
        if (cause instanceof DatabaseUnreachableException unreachable) {
            return unreachable("The database of the semaphores", unreachable.url(), cause);
        }
        if (!(cause instanceof SQLException error)) {
            return existingTable(cause);
        }
        if (isExhaustedPool(error)) {
            return new FailureAnalysis(
                    "The pool had no connection for the semaphores: %s".formatted(error.getMessage()),
                    RAISE_POOL_SIZE,
                    error);
        }
        if (isKeyOfChangelogRequired(error, failure)) {
            return new FailureAnalysis(
                    "The MySQL server requires a primary key for each table, and Liquibase's own table "
                            + CHANGELOG_TABLE + " has none. The server reports: " + error.getMessage(),
                    ADD_KEY,
                    error);
        }
        // migrations run before the library connects
        return DatabaseUnreachableException.isFailureToConnect(error) && isDatabaseOfTheSemaphores()
                ? unreachable(
                        "The database of the application",
                        Optional.ofNullable(environment.getProperty(URL)).map(DatabaseUrl::withoutSecrets),
                        error)
                : null;
    }

    /** Compares class names, since Liquibase may be missing from the class path. */
    private static @Nullable FailureAnalysis existingTable(Throwable cause) {
        Matcher changeSet = CHANGE_SET.matcher(String.valueOf(cause.getMessage()));
        SQLException error = SqlErrors.root(cause).orElse(null);
        if (!cause.getClass().getName().startsWith("liquibase.")
                || error == null
                || !TABLE_EXISTS.contains(String.valueOf(error.getSQLState()))
                || !changeSet.find()) {
            return null;
        }
        String table = changeSet.group(1);
        return new FailureAnalysis(
                "The changelog of the semaphores cannot create the table '%s', because a table of that name exists. The database reports: %s"
                        .formatted(table, String.valueOf(error.getMessage()).strip()),
                "If the SQL script of the library has made it (semaphore.jdbc.initialize-schema, Flyway, or by hand): "
                        + MADE_BY_SCRIPT + "\n\nIf it belongs to another application: "
                        + new SemaphoreTableMismatchException(table, List.of(), true, error).action(),
                cause);
    }

    /** Whether the library got no connection because all were in use. An error with a cause means that none could be opened. */
    private static boolean isExhaustedPool(SQLException error) {
        return error instanceof SQLTransientConnectionException
                && error.getCause() == null
                && Arrays.stream(error.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().startsWith(LIBRARY));
    }

    /** Whether the application's changelog failed for lack of a key. The library's own changelog creates Liquibase's table with a key. */
    private static boolean isKeyOfChangelogRequired(SQLException error, Throwable failure) {
        return KEY_REQUIRED.contains(error.getErrorCode())
                && causes(failure)
                        .anyMatch(each -> String.valueOf(each.getMessage()).contains(CHANGELOG_TABLE));
    }

    /** Whether the failure concerns the database of the semaphores; false for applications with several data sources. */
    private boolean isDatabaseOfTheSemaphores() {
        return beanFactory instanceof ListableBeanFactory beans
                && beans.containsBeanDefinition(ENGINE)
                && !hasOwnPool()
                && beans.getBeanNamesForType(DataSource.class, true, false).length == 1;
    }

    /** @param database which database it is, as the beginning of a sentence */
    private FailureAnalysis unreachable(String database, Optional<String> url, Throwable failure) {
        String check = whatToCheck(failure);
        return new FailureAnalysis(
                "%s%s cannot be reached: %s"
                        .formatted(database, url.map(", %s,"::formatted).orElse(""), whatHappened(failure)),
                (hasOwnPool() ? check.replace("spring.datasource", "semaphore.datasource") : check + OTHER_DATABASE)
                        + DISABLE,
                failure);
    }

    private boolean hasOwnPool() {
        return environment.containsProperty(OwnPool.Properties.URL);
    }

    /** The error of the driver and that of the network, if there is one: no driver reports both. */
    private static String whatHappened(Throwable failure) {
        String error =
                SqlErrors.root(failure).map(DatabaseFailureAnalyzer::firstLine).orElse("");
        String network = network(failure)
                .map(cause -> cause.getClass().getSimpleName() + ": " + cause.getMessage())
                .orElse("");
        return network.isEmpty() ? error : error.isEmpty() ? network : "%s (%s)".formatted(error, network);
    }

    private static String whatToCheck(Throwable failure) {
        Throwable network = network(failure).orElse(null);
        if (network instanceof UnknownHostException) {
            return "No host of that name is known. Correct the name in spring.datasource.url.";
        }
        if (network instanceof SocketTimeoutException) {
            return "The server does not answer. Check the host and the port in spring.datasource.url, and the firewalls on the"
                    + " way to it.";
        }
        if (network instanceof ConnectException) {
            return "Nothing listens at that host and port. Start the database, or correct spring.datasource.url.";
        }
        SQLException error = SqlErrors.root(failure).orElse(null);
        String state = error == null ? "" : String.valueOf(error.getSQLState());
        if (state.startsWith("28")) {
            return "The database rejects the user or the password. Correct spring.datasource.username and"
                    + " spring.datasource.password.";
        }
        if (error != null && error.getErrorCode() == 1044) { // of MySQL and MariaDB, also for a missing database
            return "The user has no right to a database of that name. Grant it the privileges on that database, create the database,"
                    + " or correct spring.datasource.url and spring.datasource.username.";
        }
        if (state.equals("3D000") || (error != null && error.getErrorCode() == 1049)) {
            return "The server has no database of that name. Create it, or correct spring.datasource.url.";
        }
        return "Check that the database runs, and correct spring.datasource.url, spring.datasource.username and"
                + " spring.datasource.password.";
    }

    private static Optional<Throwable> network(Throwable failure) {
        return causes(failure)
                .filter(cause -> cause instanceof ConnectException
                        || cause instanceof SocketTimeoutException
                        || cause instanceof UnknownHostException)
                .findFirst();
    }

    /** The first line of a message: Connector/J adds further lines about its last packet. */
    private static String firstLine(SQLException error) {
        return String.valueOf(error.getMessage()).lines().findFirst().orElse("").strip();
    }
}
