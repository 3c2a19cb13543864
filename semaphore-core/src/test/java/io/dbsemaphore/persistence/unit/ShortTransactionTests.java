package io.dbsemaphore.persistence.unit;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.jdbc.SemaphoreDataSource;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabase;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

class ShortTransactionTests {

    private static final Duration LIMIT = Duration.ofSeconds(5);

    /** Otherwise the thread would stay in the transaction, and its connection would be lost to the pool. */
    @Test
    void rollsBackAlsoIfTheSessionCannotBeMarked() {
        EmbeddedDatabase host = new EmbeddedDatabaseBuilder()
                .setType(EmbeddedDatabaseType.H2)
                .generateUniqueName(true)
                .build();
        try (SemaphoreDataSource connections =
                new SemaphoreDataSource(host, Database.H2, LIMIT, LIMIT, 2, false, new DatabaseThreads(2))) {
            ShortTransaction transaction =
                    new ShortTransaction(connections, new PersistenceUnit(connections, Database.H2, "", List.of()));
            TransactionStatus status = transaction.begin();
            TransactionSynchronizationManager.unbindResource(connections);
            TransactionSynchronizationManager.bindResource(connections, new ConnectionHolder(unusable()));

            RuntimeException failure = transaction.rollBack(
                    status,
                    new TransientDataAccessResourceException("read-only", new SQLException("read-only", "25006")));

            assertThat(failure).isInstanceOf(TransientDataAccessResourceException.class);
            assertThat(status.isCompleted()).as("rolled back").isEqualTo(true);
            assertThat(TransactionSynchronizationManager.isActualTransactionActive())
                    .as("in a transaction")
                    .isEqualTo(false);
        } finally {
            host.shutdown();
        }
    }

    private static Connection unusable() {
        return (Connection) Proxy.newProxyInstance(
                ShortTransactionTests.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> {
                    throw new NoClassDefFoundError("a driver that does not link");
                });
    }
}
