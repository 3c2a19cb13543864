package io.dbsemaphore.jdbc;

import com.mysql.cj.NativeSession;
import com.mysql.cj.conf.PropertyKey;
import com.mysql.cj.conf.PropertySet;
import com.mysql.cj.jdbc.JdbcConnection;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * MySQL Connector/J: sends several statements, and the commit, as one text, which the server executes up to the first
 * one that fails. Multi-statement mode is enabled in the driver while the library uses the session, whatever the host's
 * URL says. Must not be loaded if the driver is missing.
 */
final class MultiStatements extends StatementQueue {

    private static final Logger log = LoggerFactory.getLogger(MultiStatements.class);
    private static final String COMMIT = "; commit";

    private final Pipelining pipelining;
    private final NativeSession session;
    private final boolean allowedBefore;

    private MultiStatements(
            Connection connection, Pipelining pipelining, NativeSession session, boolean allowedBefore) {
        super(connection);
        this.pipelining = pipelining;
        this.session = session;
        this.allowedBefore = allowedBefore;
    }

    /**
     * Enables the mode; empty if the connection is another driver's, or uses server-side prepared statements, which
     * allow one statement at a time.
     */
    static Optional<StatementQueue> open(Connection connection, Pipelining pipelining) {
        try {
            if (!connection.isWrapperFor(JdbcConnection.class)) {
                return Optional.empty();
            }
            JdbcConnection driver = connection.unwrap(JdbcConnection.class);
            PropertySet properties = driver.getPropertySet();
            boolean prepares = isSet(properties, PropertyKey.useServerPrepStmts);
            if (prepares || !(driver.getSession() instanceof NativeSession session)) {
                return Optional.empty();
            }
            boolean allowed = isSet(properties, PropertyKey.allowMultiQueries);
            if (!allowed) {
                session.enableMultiQueries();
            }
            return Optional.of(new MultiStatements(connection, pipelining, session, allowed));
        } catch (SQLException | RuntimeException | LinkageError unable) {
            log.debug("Statements are sent one by one", unable);
            return Optional.empty();
        }
    }

    private static boolean isSet(PropertySet properties, PropertyKey key) {
        return properties.getBooleanProperty(key).getValue();
    }

    @Override
    public void flush() throws SQLException {
        List<QueuedStatement<?>> statements = take();
        if (statements.size() < 2 || !isOneRoundTrip() || !send(statements, "")) {
            executeOneByOne(statements);
        }
    }

    @Override
    void commit() throws SQLException {
        List<QueuedStatement<?>> statements = take();
        if (statements.isEmpty() || !isOneRoundTrip() || !send(statements, COMMIT)) {
            executeOneByOne(statements);
            connection().commit();
        }
    }

    @Override
    public boolean isOneRoundTrip() {
        return pipelining.isOn();
    }

    /** Executes the statements, or returns false if a filter rejected them before they were sent to the server. */
    private boolean send(List<QueuedStatement<?>> statements, String suffix) throws SQLException {
        String text = statements.stream().map(QueuedStatement::sql).collect(Collectors.joining("; ", "", suffix));
        PreparedStatement prepared;
        try {
            prepared = connection().prepareStatement(text);
        } catch (SQLException refusal) {
            if (SqlErrors.isConnectionLost(refusal)) {
                throw refusal;
            }
            // the driver sends nothing to prepare a statement: a filter of the pool has refused the text
            pipelining.switchOff(refusal);
            return false;
        }
        try (prepared) {
            int index = 1;
            for (QueuedStatement<?> statement : statements) {
                index = statement.bind(prepared, index);
            }
            if (statements.get(0).isUpdate()) {
                prepared.executeUpdate(); // the driver's execute() would first ask the server whether it is read-only
            } else {
                prepared.execute();
            }
            for (QueuedStatement<?> statement : statements) {
                statement.takeResult(prepared);
                prepared.getMoreResults();
            }
            return true;
        } catch (SQLException failure) {
            if (!Pipelining.isRefusedByServer(failure)) {
                throw failure;
            }
            pipelining.switchOff(failure);
            SQLTransactionRollbackException again = new SQLTransactionRollbackException(
                    "A multi-statement request was rejected; the next attempt sends the statements one by one",
                    "40001");
            again.addSuppressed(failure);
            throw again;
        }
    }

    @Override
    void restore() {
        if (!allowedBefore) {
            session.disableMultiQueries();
        }
    }
}
