package io.dbsemaphore.testing.node;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Counts the connections that a node has borrowed, and asks the last one. */
public final class BorrowedConnections extends DelegatingDataSource {

    private final AtomicInteger count = new AtomicInteger();
    private final Queue<Connection> borrowed = new ConcurrentLinkedQueue<>();
    private volatile @Nullable Connection last;

    BorrowedConnections(DataSource target) {
        super(target);
    }

    @Override
    public Connection getConnection() throws SQLException {
        count.incrementAndGet();
        Connection connection = super.getConnection();
        last = connection;
        borrowed.add(connection);
        return connection;
    }

    /** Ends those that are borrowed now, as a server or a firewall does that ends idle ones. Returns how many. */
    public int abortAll() {
        int aborted = 0;
        try {
            for (Connection connection : borrowed) {
                if (!connection.isClosed()) {
                    connection.abort(Runnable::run);
                    aborted++;
                }
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return aborted;
    }

    /** How often the pool was asked for a connection. */
    public int count() {
        return count.get();
    }

    /** Asks on the connection that was borrowed last. Its borrower must be paused at the gate. */
    public List<String> askLast(String query) {
        return ask(Objects.requireNonNull(last, "no connection was borrowed"), query);
    }

    /** The first row of the answer. */
    public static List<String> ask(Connection connection, String query) {
        try (Statement statement = connection.createStatement();
                ResultSet answer = statement.executeQuery(query)) {
            answer.next();
            List<String> row = new ArrayList<>();
            for (int column = 1; column <= answer.getMetaData().getColumnCount(); column++) {
                row.add(answer.getString(column));
            }
            return row;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
