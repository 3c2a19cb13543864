package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.atomikos.icatch.jta.UserTransactionManager;
import com.atomikos.jdbc.AtomikosDataSourceBean;
import com.mysql.cj.jdbc.MysqlXADataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.RequestConflictException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.jta.JtaTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A host with global transactions: whatever it asks of the library within one, what it writes in it is committed. A pool
 * that enlists connections hands the enlisted one to every caller on the thread of the transaction.
 */
@EnabledOnDatabase(DatabaseKind.MYSQL)
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GlobalTransactionIntegrationTests {

    private static final Logger ATOMIKOS_LOG = Logger.getLogger("com.atomikos");

    private static Schema schema;
    private static AtomikosDataSourceBean pool;
    private static UserTransactionManager userTransaction;
    private static SemaphoreEngine engine;
    private static SemaphoreTemplate semaphores;

    private final String name = SemaphoreRows.name("global");

    @BeforeAll
    static void start(@TempDir Path logs) throws Exception {
        ATOMIKOS_LOG.setLevel(Level.OFF); // it logs each failed attempt to recover
        System.setProperty("com.atomikos.icatch.log_base_dir", logs.toString());
        System.setProperty("com.atomikos.icatch.default_jta_timeout", "60000"); // Hibernate is started in one
        schema = TestDatabase.create().migrate();
        schema.jdbc().execute("create table booking (id varchar(36) primary key)");
        MysqlXADataSource connections = new MysqlXADataSource();
        connections.setUrl(schema.jdbcUrl());
        connections.setUser(schema.username());
        connections.setPassword(schema.password());
        connections.setPinGlobalTxToPhysicalConnection(true);
        pool = new AtomikosDataSourceBean();
        pool.setUniqueResourceName("bookings");
        pool.setXaDataSource(connections);
        pool.setPoolSize(10);
        userTransaction = new UserTransactionManager();
        userTransaction.init();
        engine = new SemaphoreEngine(pool, TestSettings.defaults());
        semaphores = new SemaphoreTemplate(engine.permitManager());
    }

    @AfterAll
    static void stop() throws IOException {
        if (schema != null) {
            engine.close();
            userTransaction.close();
            pool.close();
            schema.close();
        }
    }

    @BeforeEach
    void createSemaphore() {
        engine.admin().create(name, 1);
    }

    /** What begins a global transaction. */
    enum Begun {

        /** Spring, whose synchronization is visible to all code on the thread. */
        BY_SPRING {
            @Override
            void run(Runnable work) {
                JtaTransactionManager transactions = new JtaTransactionManager(userTransaction, userTransaction);
                new TransactionTemplate(transactions).executeWithoutResult(status -> work.run());
            }
        },

        /** The transaction manager itself, of which Spring knows nothing. */
        BY_THE_TRANSACTION_MANAGER {
            @Override
            void run(Runnable work) {
                try {
                    userTransaction.begin();
                    work.run();
                    userTransaction.commit();
                } catch (Exception failure) {
                    throw new IllegalStateException(failure);
                }
            }
        };

        abstract void run(Runnable work);
    }

    @ParameterizedTest
    @EnumSource
    void commitsWhatItsHostWroteBesideAnAcquire(Begun transaction) {
        assertCommits(
                transaction,
                () -> assertThat(semaphores.tryAcquire(AcquireRequest.of(name))).isPresent());

        assertThat(new SemaphoreRows(schema).held(name)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void commitsWhatItsHostWroteBesideARefusal(Begun transaction) {
        semaphores.acquire(AcquireRequest.of(name));

        assertCommits(
                transaction,
                () -> assertThat(semaphores.tryAcquire(AcquireRequest.of(name))).isEmpty());
    }

    @ParameterizedTest
    @EnumSource
    void commitsWhatItsHostWroteBesideAnAcquireThatWaits(Begun transaction) {
        assertCommits(
                transaction,
                () -> assertThat(semaphores.tryAcquire(AcquireRequest.of(name).withWaitTime(Duration.ofSeconds(5))))
                        .isPresent());
    }

    @ParameterizedTest
    @EnumSource
    void commitsWhatItsHostWroteBesideAllElseThatIsAsked(Begun transaction) {
        String other = name + "-made-there";
        String id = "id-" + name;

        assertCommits(transaction, () -> {
            engine.admin().create(other, 2);
            engine.admin().setCapacity(other, 3, "test", "within a global transaction");
            assertThat(engine.admin().holders(name)).isEmpty();
            PermitGrant grant = semaphores.acquire(AcquireRequest.of(name).withExternalId(id));
            assertThat(semaphores.find(id)).isPresent();
            grant.renew(Duration.ofMinutes(2));
            assertThatThrownBy(() -> semaphores.acquire(AcquireRequest.of(other).withExternalId(id)))
                    .isInstanceOf(RequestConflictException.class);
            grant.release();
            semaphores.release(id);
            semaphores.executeWithoutResult(AcquireRequest.of(other), work -> {});
            engine.admin().delete(other);
            engine.maintenance().releaseOrphans();
            engine.check();
        });

        new SemaphoreRows(schema).assertNothingHeld(List.of(name));
    }

    @ParameterizedTest
    @EnumSource
    void commitsWhatItsHostWroteBesideTheStartOfAnEngine(Begun transaction) {
        assertCommits(transaction, () -> new SemaphoreEngine(pool, TestSettings.defaults()).close());
    }

    /** The connection is enlisted by the first statement. */
    @Test
    void checksAGrantOnTheConnectionThatIsEnlisted() {
        PermitGrant grant = semaphores.acquire(AcquireRequest.of(name));
        JdbcTemplate host = new JdbcTemplate(pool);

        assertThatThrownBy(() -> Begun.BY_SPRING.run(() -> semaphores.requireHeld(grant)))
                .isInstanceOf(IllegalTransactionStateException.class)
                .hasMessageContaining("execute a statement on that DataSource first");
        Begun.BY_SPRING.run(() -> {
            host.queryForList("select id from booking");
            semaphores.requireHeld(grant);
        });

        semaphores.release(grant.externalId());
        assertThatThrownBy(() -> Begun.BY_SPRING.run(() -> {
                    host.queryForList("select id from booking");
                    semaphores.requireHeld(grant);
                }))
                .isInstanceOf(PermitLostException.class);
    }

    /** The row is written by the connection that is enlisted, before and after what the library is asked. */
    private void assertCommits(Begun transaction, Runnable use) {
        JdbcTemplate host = new JdbcTemplate(pool);
        String before = UUID.randomUUID().toString();
        String after = UUID.randomUUID().toString();

        transaction.run(() -> {
            host.update("insert into booking (id) values (?)", before);
            use.run();
            host.update("insert into booking (id) values (?)", after);
        });

        assertThat(schema.jdbc().queryForList("select id from booking where id in (?, ?)", before, after))
                .hasSize(2);
    }
}
