package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreException;
import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.hold.InstanceLease;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.jdbc.ReleaseChannel;
import io.dbsemaphore.jdbc.Sessions;
import io.dbsemaphore.jdbc.SqlErrorKind;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.persistence.Drill;
import io.dbsemaphore.persistence.HeldCheck;
import io.dbsemaphore.persistence.SemaphorePersistence;
import io.dbsemaphore.persistence.unit.TableCheck;
import io.dbsemaphore.persistence.unit.TransactionFailures;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.UncategorizedSQLException;

/**
 * The database of an engine, opened once: sessions on the host's data source, and the persistence unit that uses them.
 *
 * @param lockWait how long to wait for rows and tables that another session has locked
 * @param certifiesWrites whether the server {@linkplain Database#certifiesWrites certifies writes}
 * @param channel the channel on which instances notify one another of releases; null without notifications
 */
record EngineDatabase(
        String tablePrefix,
        Duration lockWait,
        Sessions sessions,
        SemaphorePersistence persistence,
        HeldCheck heldCheck,
        boolean certifiesWrites,
        @Nullable ReleaseChannel channel)
        implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(EngineDatabase.class);

    private static final Duration TABLE_POLL_INTERVAL = Duration.ofMillis(200);
    private static final Duration SESSION_RETURN_TIMEOUT = Duration.ofSeconds(5);

    /**
     * Opens the database, calls {@code tableCreation}, waits up to {@code schemaWait} for tables that something else creates, and
     * {@linkplain #check checks} that the database can be used. To be called on a thread of the database.
     */
    static EngineDatabase open(
            DataSource dataSource,
            SemaphoreSettings settings,
            Consumer<SchemaScript> tableCreation,
            Duration schemaWait,
            DatabaseThreads threads) {
        Database database = explained(() -> databaseOf(dataSource));
        tableCreation.accept(new SchemaScript(dataSource, database, settings.get(SemaphoreSettings.TABLE_PREFIX)));
        return explained(() -> open(dataSource, database, settings, schemaWait, threads));
    }

    private static EngineDatabase open(
            DataSource dataSource,
            Database database,
            SemaphoreSettings settings,
            Duration schemaWait,
            DatabaseThreads threads) {
        String tablePrefix = settings.get(SemaphoreSettings.TABLE_PREFIX);
        requireSuitableOptions(dataSource, database);
        boolean certifiesWrites = certifiesWrites(dataSource, database);
        database.warnOfLostCommits(dataSource);
        Duration lockWait = settings.get(SemaphoreSettings.LOCK_WAIT_TIMEOUT);
        Sessions sessions = new Sessions(
                dataSource,
                database,
                lockWait,
                settings.get(SemaphoreSettings.SESSION_IDLE_LIMIT),
                settings.get(SemaphoreSettings.MAX_CONNECTIONS),
                settings.get(SemaphoreSettings.PIPELINING),
                threads);
        ReleaseChannel channel = settings.get(SemaphoreSettings.NOTIFICATIONS)
                ? ReleaseChannel.of(sessions, database, tablePrefix).orElse(null)
                : null;
        SemaphorePersistence persistence = SemaphorePersistence.open(
                sessions,
                database,
                tablePrefix,
                InstanceLease.grace(settings.get(SemaphoreSettings.INSTANCE_TIMEOUT)),
                settings.get(SemaphoreSettings.ONE_TRIP_FROM),
                channel);
        HeldCheck heldCheck = new HeldCheck(
                dataSource, sessions::withoutAutoCommit, database, persistence.sql()::text, certifiesWrites);
        EngineDatabase opened =
                new EngineDatabase(tablePrefix, lockWait, sessions, persistence, heldCheck, certifiesWrites, channel);
        try {
            opened.awaitTables(schemaWait);
        } catch (RuntimeException failure) {
            opened.close();
            throw failure;
        }
        return opened;
    }

    private void awaitTables(Duration schemaWait) {
        Deadline deadline = Deadline.in(schemaWait);
        boolean logged = false;
        while (true) {
            try {
                check();
                drill();
                return;
            } catch (RuntimeException failure) {
                if (!mayBeOfUnfinishedChangelog(failure)
                        || deadline.isPassed()
                        || Thread.currentThread().isInterrupted()) {
                    throw failure;
                }
                if (!logged) {
                    log.info(
                            "The tables of the semaphores are not complete yet: {}. The start waits for up to {}"
                                    + " (semaphore.jdbc.schema-wait) for the changelog or script that creates them",
                            failure.getMessage(),
                            schemaWait);
                    logged = true;
                }
                LockSupport.parkNanos(Math.min(deadline.remainingNanos(), TABLE_POLL_INTERVAL.toNanos()));
            }
        }
    }

    /** Whether a changelog that is still running may have caused a failure. */
    private static boolean mayBeOfUnfinishedChangelog(RuntimeException failure) {
        if (failure instanceof SemaphoreException) {
            return failure instanceof SemaphoreTablesMissingException
                    || (failure instanceof SemaphoreTableMismatchException mismatch && !mismatch.isForeign());
        }
        return failure instanceof UnsupportedDatabaseException // of a drill: constraints are added after columns
                || SqlErrors.is(failure, SqlErrorKind.MISSING_COLUMN) // the column was added before the comparison
                || TransactionFailures.isWorthRepeating(failure); // a conflict with a statement that changes a table
    }

    /**
     * Uses the tables. Repeats this for up to {@link SemaphoreSettings#LOCK_WAIT_TIMEOUT} while another session has locked them, for
     * example to change a table, and once after a lost connection: the first queries of a JVM take long, and a proxy or the server may end
     * their connection as idle.
     */
    private void useTables(Runnable use) {
        Deadline deadline = Deadline.in(lockWait);
        boolean lost = false;
        while (true) {
            try {
                use.run();
                return;
            } catch (RuntimeException failure) {
                boolean again = SqlErrors.isLockWait(failure)
                        ? !deadline.isPassed()
                        : !lost && SqlErrors.isConnectionLost(failure) && !SqlErrors.isPoolExhausted(failure);
                if (!again) {
                    throw failure;
                }
                lost |= SqlErrors.isConnectionLost(failure);
            }
        }
    }

    /** Checks the tables for {@link SemaphoreEngine#check}. */
    void check() {
        try {
            useTables(() -> persistence.admin().touchTables(SemaphorePersistence.ENTITIES));
        } catch (RuntimeException failure) {
            TableCheck.find(sessions.dataSource(), SemaphorePersistence.ENTITIES, tablePrefix)
                    .ifPresent(mismatch -> {
                        throw new SemaphoreTableMismatchException(
                                mismatch.table(), mismatch.missingColumns(), mismatch.foreign(), failure);
                    });
            if (SqlErrors.is(failure, SqlErrorKind.MISSING_TABLE)) {
                throw new SemaphoreTablesMissingException(tablePrefix, failure);
            }
            throw DatabaseNotWritableException.of(failure, tablePrefix)
                    .<RuntimeException>map(refused -> refused)
                    .orElse(failure);
        }
    }

    /**
     * Runs a {@link Drill}, and a second one if the first fails: an accident, such as a clock that is being set, must not fail a start.
     * Other failures of the database do not fail the start either, because later transactions are repeated.
     */
    private void drill() {
        try {
            try {
                useTables(() -> persistence.admin().drill(!certifiesWrites));
            } catch (RuntimeException first) {
                log.debug("The first drill has failed", first);
                useTables(() -> persistence.admin().drill(!certifiesWrites));
            }
        } catch (Drill.Deviation deviation) {
            throw UnsupportedDatabaseException.ofDrill(deviation);
        } catch (RuntimeException failure) {
            DatabaseNotWritableException.of(failure, tablePrefix).ifPresent(refused -> {
                throw refused;
            });
            if (UnsupportedDatabaseException.ofDataSource(failure).isPresent()) { // not repeated
                throw failure;
            }
            log.warn("The start could not test whether semaphores are enforced on this database", failure);
        }
    }

    /** The threads that may wait for the database. */
    DatabaseThreads threads() {
        return sessions.threads();
    }

    /** Returns all connections to the host's pool, and waits some seconds for those in use. */
    void suspend() {
        sessions.suspend(SESSION_RETURN_TIMEOUT);
    }

    /** Allows sessions to be kept between transactions again. */
    void resume() {
        sessions.resume();
    }

    @Override
    public void close() {
        persistence.unit().close();
        sessions.close();
    }

    /** Uses the data source, and explains exceptions other than those of JDBC. */
    private static <T> T explained(Supplier<T> use) {
        try {
            return use.get();
        } catch (RuntimeException failure) {
            throw UnsupportedDatabaseException.ofDataSource(failure)
                    .<RuntimeException>map(refused -> refused)
                    .orElse(failure);
        }
    }

    private static Database databaseOf(DataSource dataSource) {
        try {
            return Database.of(dataSource);
        } catch (SQLFeatureNotSupportedException unknown) {
            throw UnsupportedDatabaseException.ofDatabase(String.valueOf(unknown.getMessage()));
        } catch (SQLException failure) {
            throw failed(dataSource, failure);
        } catch (RuntimeException failure) { // a pool cannot be initialized
            throw DatabaseUnreachableException.of(dataSource, failure)
                    .<RuntimeException>map(unreachable -> unreachable)
                    .orElse(failure);
        }
    }

    private static void requireSuitableOptions(DataSource dataSource, Database database) {
        try {
            database.unsuitableOption(dataSource).ifPresent(option -> {
                throw UnsupportedDatabaseException.ofOption(option);
            });
        } catch (SQLException failure) {
            throw failed(dataSource, failure);
        }
    }

    private static boolean certifiesWrites(DataSource dataSource, Database database) {
        try {
            return database.certifiesWrites(dataSource);
        } catch (SQLException failure) {
            throw failed(dataSource, failure);
        }
    }

    /** The exception for a failed first query of the start. A server that answers can be reached. */
    private static RuntimeException failed(DataSource dataSource, SQLException failure) {
        return SqlErrors.isAnswerOfServer(failure) && !DatabaseUnreachableException.isFailureToConnect(failure)
                ? new UncategorizedSQLException("The start of the semaphores", null, failure)
                : new DatabaseUnreachableException(dataSource, failure);
    }
}
