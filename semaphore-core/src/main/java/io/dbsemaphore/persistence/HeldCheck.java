package io.dbsemaphore.persistence;

import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.Sessions;
import io.dbsemaphore.jdbc.SqlErrorKind;
import io.dbsemaphore.jdbc.SqlErrors;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Locks the permits of a grant in the caller's transaction, in share mode. Each row is locked by its primary key. At
 * {@code REPEATABLE READ}, any other condition would lock gaps in which others insert, and read a snapshot older than the grant.
 *
 * <p>If servers {@linkplain Database#certifiesWrites certify writes}, the rows are also updated, because other servers do not see row
 * locks.
 *
 * <p>Remembers the grants that open transactions of the current thread have checked, including suspended transactions: a release on this
 * thread would wait for such a transaction, and so for itself.
 */
public final class HeldCheck {

    /** An update to the same value would not be a write. */
    private static final String WRITE = "update permit set checks = checks + 1 where id = ?";

    private static final String MISSING = "MISSING";

    private static final String READ_ONLY =
            "a database that is read-only at the moment, as a replica is, which may not know of a release yet";

    private static final String WITHOUT_TABLES = "a database without the tables of the semaphores";

    private static final String IF_JTA =
            ". In a JTA transaction, execute a statement on that DataSource first, and let its pool lend connections with auto-commit on";

    private static final TransactionDefinition PRESENT =
            new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_MANDATORY);

    private final DataSource hostDataSource;
    private final DataSourceTransactionManager jdbcTransactions;
    private final BooleanSupplier withoutAutoCommit;
    private final JdbcTemplate jdbc;
    private final String query;
    private final String semaphoreQuery;
    private final UnaryOperator<String> text;
    private final boolean writes;

    @SuppressWarnings("ThreadLocalUsage") // one for each engine, and one engine for each database
    private final ThreadLocal<@Nullable List<Check>> open = new ThreadLocal<>();

    /**
     * Creates a check.
     *
     * @param hostDataSource the data source of the host, to whose connections its transactions are bound
     * @param withoutAutoCommit whether that data source has lent a connection with auto-commit off
     * @param text adapts a statement with the names of the changelog to the database
     * @param writes whether the rows must be updated, because a lock is not sufficient
     */
    public HeldCheck(
            DataSource hostDataSource,
            BooleanSupplier withoutAutoCommit,
            Database database,
            UnaryOperator<String> text,
            boolean writes) {
        this.hostDataSource = Sessions.outsideOfHostTransactions(hostDataSource);
        this.jdbcTransactions = new DataSourceTransactionManager(this.hostDataSource);
        this.withoutAutoCommit = withoutAutoCommit;
        this.jdbc = new JdbcTemplate(this.hostDataSource);
        this.query = "select state, (%s) from permit where id = ? and token = ? %s"
                .formatted(database.readOnlyQuery(), writes ? "for update" : database.sharedRowLock());
        // a separate statement: at SERIALIZABLE it locks the row of the semaphore on MySQL and MariaDB
        this.semaphoreQuery =
                "select '%s', (%s) from semaphore where id = ?".formatted(MISSING, database.readOnlyQuery());
        this.text = text;
        this.writes = writes;
    }

    /**
     * Locks these permits in the caller's transaction, so that no other transaction can take them before it ends.
     *
     * @return false if a permit was released: the grant is lost
     * @throws PermitLostException if a permit is not visible to this transaction, because it was deleted or is newer than the snapshot; the
     *     grant may still be held
     * @throws CannotAcquireLockException if another transaction has locked a permit
     * @throws IllegalTransactionStateException without a writable transaction on the host's data source, in the database of the semaphores
     */
    public boolean lockIfHeld(StoredGrant grant) {
        requireTransaction(grant.externalId());
        if (!lock(grant)) {
            return false;
        }
        List<Check> checks = open.get();
        if (checks == null) {
            checks = new ArrayList<>();
            open.set(checks);
        }
        TransactionSynchronizationManager.registerSynchronization(new Check(grant, checks));
        return true;
    }

    private boolean lock(StoredGrant grant) {
        List<StoredPermit> ascending = grant.permits().stream()
                .sorted(Comparator.comparing(StoredPermit::id))
                .toList();
        for (StoredPermit permit : ascending) {
            String state = lock(grant.externalId(), permit);
            if (state.equals(MISSING)) {
                throw new PermitLostException(grant.externalId(), grant.counts());
            }
            if (!state.equals("ACQUIRED")) {
                return false;
            }
        }
        return true;
    }

    /** Locks a permit, and returns its state. Translates a conflict even if Spring does not recognize the driver's exception. */
    private String lock(String externalId, StoredPermit permit) {
        try {
            String state = first(query, externalId, permit.id(), permit.token())
                    .or(() -> first(semaphoreQuery, externalId, permit.semaphoreId()))
                    .orElseThrow(() -> elsewhere(
                            externalId,
                            "a database without the semaphore '%s' of this id, %d, or its snapshot is older than that semaphore"
                                    .formatted(permit.name(), permit.semaphoreId())));
            if (writes && !state.equals(MISSING)) {
                jdbc.update(text.apply(WRITE), permit.id());
            }
            return state;
        } catch (DataAccessException failure) {
            if (SqlErrors.isReadOnly(failure)
                    || SqlErrors.is(failure, SqlErrorKind.MISSING_TABLE)
                    || SqlErrors.is(failure, SqlErrorKind.MISSING_SCHEMA)) {
                throw (RuntimeException)
                        elsewhere(externalId, SqlErrors.isReadOnly(failure) ? READ_ONLY : WITHOUT_TABLES)
                                .initCause(failure);
            }
            if (!SqlErrors.isConflict(failure)) {
                throw failure;
            }
            throw new CannotAcquireLockException(
                    "requireHeld of '%s': another transaction has locked the permits of semaphore '%s', so whether they are held is"
                                    .formatted(externalId, permit.name())
                            + " not known; roll back and try the whole transaction again",
                    SqlErrors.root(failure).orElse(null));
        }
    }

    /** Returns the text of the first row. An answer of a read-only server is refused: a replica may not know of a release yet. */
    private Optional<String> first(String sql, String externalId, Object... ids) {
        return jdbc
                .query(
                        text.apply(sql),
                        (row, number) -> {
                            if (row.getBoolean(2)) {
                                throw elsewhere(externalId, READ_ONLY);
                            }
                            return row.getString(1);
                        },
                        ids)
                .stream()
                .findFirst();
    }

    private static IllegalTransactionStateException elsewhere(String externalId, String found) {
        return new IllegalTransactionStateException(
                "requireHeld of '%s' needs a transaction in the database of the semaphores, and this one runs in %s. Whether the grant is"
                                .formatted(externalId, found)
                        + " held is not known. Run the transaction on the DataSource of the semaphores, not routed to another"
                        + " database or to a replica");
    }

    private void requireTransaction(String externalId) {
        boolean active = TransactionSynchronizationManager.isActualTransactionActive()
                && TransactionSynchronizationManager.isSynchronizationActive(); // otherwise it has completed
        if (!active || !isOnHostDataSource()) {
            throw new IllegalTransactionStateException("requireHeld of '" + externalId + "' needs a transaction on the"
                    + " DataSource of the semaphores, since it protects the commit of that transaction"
                    + (active ? IF_JTA : ""));
        }
        if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
            throw new IllegalTransactionStateException(
                    "requireHeld of '" + externalId
                            + "' needs a writable transaction: a read-only one may run on a replica, and has nothing to commit");
        }
    }

    /**
     * Whether the transaction is on the host's data source. A connection that is merely synchronized with a transaction of another resource
     * commits by itself, or is rolled back before the other commits. A JTA transaction looks the same, but turns auto-commit off. If the
     * pool lends connections with auto-commit off, the two cannot be told apart.
     */
    private boolean isOnHostDataSource() {
        if (!(TransactionSynchronizationManager.getResource(hostDataSource) instanceof ConnectionHolder holder)) {
            return false;
        }
        try {
            return !holder.getConnection().getAutoCommit()
                    && (!holder.isSynchronizedWithTransaction() // bound by JPA
                            || !withoutAutoCommit.getAsBoolean()
                            || isBegunByJdbc());
        } catch (SQLException failure) {
            throw new IllegalTransactionStateException("The connection of the transaction cannot be used", failure);
        }
    }

    private boolean isBegunByJdbc() {
        try {
            jdbcTransactions.getTransaction(PRESENT); // takes part in it, so there is nothing to complete
            return true;
        } catch (IllegalTransactionStateException none) {
            return false;
        }
    }

    /**
     * Defers an action until all transactions that checked the grant on this thread have completed.
     *
     * @return false if there is no such transaction
     */
    public boolean defer(String externalId, Runnable action) {
        List<Check> checks = open.get();
        return checks != null && defer(checks, externalId, List.of(action));
    }

    private static boolean defer(List<Check> checks, String externalId, List<Runnable> actions) {
        synchronized (checks) {
            Optional<Check> other = checks.stream()
                    .filter(check -> check.externalId.equals(externalId))
                    .findFirst();
            other.ifPresent(check -> check.deferred.addAll(actions));
            return other.isPresent();
        }
    }

    /** One check. It ends when its transaction completes, which may be on another thread. */
    private final class Check implements TransactionSynchronization {

        private final StoredGrant grant;
        private final String externalId;
        private final List<Check> checks;
        private final List<Runnable> deferred = new ArrayList<>();
        private boolean mayBeUnlocked;

        Check(StoredGrant grant, List<Check> checks) {
            this.grant = grant;
            this.externalId = grant.externalId();
            this.checks = checks;
            synchronized (checks) {
                checks.add(this);
            }
        }

        /** Records that the rollback may have undone the lock. */
        @Override
        public void savepointRollback(Object savepoint) {
            mayBeUnlocked = true;
        }

        /**
         * Retakes a lock that may have been undone. A grant that is held now was also held in between, because a released one is never held
         * again.
         *
         * @throws PermitLostException if the grant is lost, so that the transaction is rolled back
         */
        @Override
        public void beforeCommit(boolean readOnly) {
            if (mayBeUnlocked && !lock(grant)) {
                throw new PermitLostException(externalId, grant.counts());
            }
        }

        /** Runs the deferred actions, or leaves them to another check of the grant, if there is one. */
        @Override
        public void afterCompletion(int status) {
            synchronized (checks) {
                checks.remove(this);
                if (checks.isEmpty()) {
                    open.remove();
                }
                if (defer(checks, externalId, deferred)) {
                    return;
                }
            }
            deferred.forEach(Runnable::run);
        }
    }
}
