package io.dbsemaphore.engine.hold;

import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.SemaphoreDataSource;
import io.dbsemaphore.jdbc.SqlErrors;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Share-locks the permits of a grant in the caller's transaction. Each row by its primary key: any other way to find it
 * would, at {@code REPEATABLE READ}, lock the gaps in which others insert, and read a snapshot older than the grant.
 *
 * <p>Where servers {@linkplain io.dbsemaphore.jdbc.WriteCertification certify writes} it writes to them, too: of a lock
 * another server knows nothing.
 */
public final class HeldCheck {

    private final DataSource hostDataSource;
    private final JdbcTemplate jdbc;
    private final String query;
    private final String write;
    private final boolean writes;

    /**
     * Creates a check.
     *
     * @param hostDataSource the host's own, whose connections its transactions are bound to
     * @param writes whether a lock is not enough
     */
    public HeldCheck(DataSource hostDataSource, Database database, String tablePrefix, boolean writes) {
        this.hostDataSource = SemaphoreDataSource.outsideOfHostTransactions(hostDataSource);
        this.jdbc = new JdbcTemplate(this.hostDataSource);
        this.query = "select state from %spermit where id = ? and token = ? %s"
                .formatted(tablePrefix, writes ? "for update" : database.sharedRowLock());
        // a value that is what it was is no write
        this.write = "update %spermit set checks = checks + 1 where id = ?".formatted(tablePrefix);
        this.writes = writes;
    }

    /**
     * Makes the caller's transaction hold back whoever wants to take these permits.
     *
     * @return false when one of them was released: the grant is lost
     * @throws PermitLostException when one of them is not there for this transaction, be it deleted, be it younger than
     *     the snapshot; whether others hold it still is not said with that
     * @throws CannotAcquireLockException when another transaction was in the way
     * @throws IllegalTransactionStateException without a writable transaction on the host's data source
     */
    public boolean isHeld(StoredGrant grant) {
        requireTransaction(grant.externalId());
        List<StoredPermit> ascending = grant.permits().stream()
                .sorted(Comparator.comparing(StoredPermit::id))
                .toList();
        for (StoredPermit permit : ascending) {
            List<String> states = lock(grant.externalId(), permit);
            if (states.isEmpty()) {
                throw new PermitLostException(
                        grant.externalId(),
                        grant.permits().stream()
                                .collect(Collectors.toMap(
                                        StoredPermit::name, StoredPermit::count, Integer::sum, TreeMap::new)));
            }
            if (!states.contains("ACQUIRED")) {
                return false;
            }
        }
        return true;
    }

    /** A conflict is called that, also where Spring knows neither the class nor the SQL state that the driver gives it. */
    private List<String> lock(String externalId, StoredPermit permit) {
        try {
            List<String> states = jdbc.queryForList(query, String.class, permit.id(), permit.token());
            if (writes && !states.isEmpty()) {
                jdbc.update(write, permit.id());
            }
            return states;
        } catch (DataAccessException failure) {
            if (!SqlErrors.isConflict(failure)) {
                throw failure;
            }
            throw new CannotAcquireLockException(
                    "requireHeld of '%s': another transaction was in the way at the permits of semaphore '%s', so whether they are held is"
                                    .formatted(externalId, permit.name())
                            + " not known; roll back and try the whole transaction again",
                    SqlErrors.root(failure).orElse(null));
        }
    }

    private void requireTransaction(String externalId) {
        if (!TransactionSynchronizationManager.isActualTransactionActive() || !isOnHostDataSource()) {
            throw new IllegalTransactionStateException("requireHeld of '" + externalId + "' needs a transaction on the"
                    + " DataSource of the semaphores, since it is the commit of that transaction which it protects");
        }
        if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
            throw new IllegalTransactionStateException(
                    "requireHeld of '" + externalId
                            + "' needs a writable transaction: a read-only one may run on a replica, and has nothing to commit");
        }
    }

    /** A connection that is merely synchronized with a transaction of another resource commits by itself. */
    private boolean isOnHostDataSource() {
        if (!(TransactionSynchronizationManager.getResource(hostDataSource) instanceof ConnectionHolder holder)) {
            return false;
        }
        try {
            return !holder.getConnection().getAutoCommit();
        } catch (SQLException failure) {
            throw new IllegalTransactionStateException("The connection of the transaction cannot be used", failure);
        }
    }
}
