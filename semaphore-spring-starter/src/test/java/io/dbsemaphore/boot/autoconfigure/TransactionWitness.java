package io.dbsemaphore.boot.autoconfigure;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Writes down what a second connection sees of the database in the moments in which transactions of the application
 * begin and have ended.
 */
class TransactionWitness implements TransactionExecutionListener {

    private final ObjectProvider<DataSource> dataSource;
    private final List<String> seen = new CopyOnWriteArrayList<>();

    TransactionWitness(ObjectProvider<DataSource> dataSource) {
        this.dataSource = dataSource;
    }

    List<String> seen() {
        return seen;
    }

    @Override
    public void beforeBegin(TransactionExecution transaction) {
        see("begins");
    }

    @Override
    public void afterCommit(TransactionExecution transaction, @Nullable Throwable commitFailure) {
        see("committed");
    }

    @Override
    public void afterRollback(TransactionExecution transaction, @Nullable Throwable rollbackFailure) {
        see("rolled back");
    }

    private void see(String moment) {
        seen.add("%s: %d held, %d orders"
                .formatted(moment, count(RealHost.HELD_PERMITS), count("select count(*) from customer_order")));
    }

    private int count(String query) {
        try (Connection second = dataSource.getObject().getConnection();
                Statement statement = second.createStatement();
                ResultSet result = statement.executeQuery(query)) {
            result.next();
            return result.getInt(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
