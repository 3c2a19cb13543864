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
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * MySQL Connector/J: several statements and the commit as one text, which the server executes up to the first that fails.
 * Its driver allows that for as long as the library has the session, whatever the host's URL says. Not to be loaded where
 * the driver is not there.
 */
final class MultiStatements implements Pipeline {

    private static final Logger log = LoggerFactory.getLogger(MultiStatements.class);

    private static final String COMMIT = "commit";

    private final Pipelining pipelining;
    private final NativeSession session;
    private final boolean allowedBefore;

    private MultiStatements(Pipelining pipelining, NativeSession session, boolean allowedBefore) {
        this.pipelining = pipelining;
        this.session = session;
        this.allowedBefore = allowedBefore;
    }

    /** Empty where the connection is another driver's, or has statements prepared by the server, one at a time. */
    static Optional<Pipeline> open(Connection connection, Pipelining pipelining) {
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
            return Optional.of(new MultiStatements(pipelining, session, allowed));
        } catch (SQLException | RuntimeException | LinkageError unable) {
            log.debug("Statements are sent one by one", unable);
            return Optional.empty();
        }
    }

    private static boolean isSet(PropertySet properties, PropertyKey key) {
        return properties.getBooleanProperty(key).getValue();
    }

    @Override
    public void execute(Connection connection, List<QueuedStatement<?>> statements) throws SQLException {
        if (statements.size() == 1 || !pipelining.isOn()) {
            ONE_BY_ONE.execute(connection, statements);
        } else {
            boolean sent =
                    executeTogether(connection, statements, statements.stream().map(QueuedStatement::sql));
            if (!sent) {
                ONE_BY_ONE.execute(connection, statements);
            }
        }
    }

    @Override
    public boolean isOneRoundTrip() {
        return pipelining.isOn();
    }

    @Override
    public void commit(Connection connection, List<QueuedStatement<?>> statements) throws SQLException {
        boolean sent = !statements.isEmpty()
                && pipelining.isOn()
                && executeTogether(
                        connection,
                        statements,
                        Stream.concat(statements.stream().map(QueuedStatement::sql), Stream.of(COMMIT)));
        if (!sent) {
            ONE_BY_ONE.commit(connection, statements);
        }
    }

    /** Executes them, or returns false where they are refused before the server has seen them. */
    private boolean executeTogether(Connection connection, List<QueuedStatement<?>> statements, Stream<String> texts)
            throws SQLException {
        PreparedStatement prepared;
        try {
            prepared = connection.prepareStatement(texts.collect(Collectors.joining("; ")));
        } catch (
                SQLException
                        refusal) { // the driver sends nothing to prepare a statement: a filter of the pool has said no
            if (SqlErrors.isConnectionLost(refusal)) {
                throw refusal;
            }
            pipelining.switchOff(refusal);
            return false;
        }
        try {
            executeTogether(prepared, statements);
            return true;
        } catch (SQLException failure) {
            if (!Pipelining.isRefusedByServer(failure)) {
                throw failure;
            }
            pipelining.switchOff(failure);
            SQLTransactionRollbackException again = new SQLTransactionRollbackException(
                    "Several statements at once were refused; each is sent by itself in the next attempt", "40001");
            again.addSuppressed(failure);
            throw again;
        }
    }

    private static void executeTogether(PreparedStatement prepared, List<QueuedStatement<?>> statements)
            throws SQLException {
        try (PreparedStatement together = prepared) {
            int index = 1;
            for (QueuedStatement<?> statement : statements) {
                index = statement.bind(together, index);
            }
            if (statements.get(0).isUpdate()) {
                together.executeUpdate(); // the driver's execute() would first ask the server whether it is read-only
            } else {
                together.execute();
            }
            for (QueuedStatement<?> statement : statements) {
                statement.takeResult(together);
                together.getMoreResults();
            }
        }
    }

    @Override
    public void restore() {
        if (!allowedBefore) {
            session.disableMultiQueries();
        }
    }
}
