package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.config.HostTransaction;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.IllegalTransactionStateException;

/** An acquire within an open transaction of the host needs a second connection: that is warned about once, or refused. */
class HostTransactionCheckIntegrationTests {

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final Logger logger = (Logger) LoggerFactory.getLogger(AcquireFactory.class);
    private final String name = cluster.semaphore(1);

    @BeforeEach
    void listen() {
        log.start();
        logger.addAppender(log);
    }

    @AfterEach
    void stopListening() {
        logger.detachAppender(log);
    }

    @Test
    void warnsOnce() {
        Node node = node(HostTransaction.WARN);
        acquireWithinTransaction(node);
        acquireWithinTransaction(node);
        node.semaphores().acquire(AcquireRequest.of(name)).close();

        assertThat(log.list)
                .singleElement()
                .satisfies(event -> assertThat(event.getFormattedMessage())
                        .contains(name, "another", "@TransactionalEventListener", "semaphore.host-transaction=allow"));
    }

    @Test
    void saysNothingWhereItIsAllowedOrThereIsNoTransaction() {
        acquireWithinTransaction(node(HostTransaction.ALLOW));
        node(HostTransaction.WARN).semaphores().acquire(AcquireRequest.of(name)).close();

        assertThat(log.list).isEmpty();
    }

    @Test
    void refusesBeforeTheDatabaseIsAsked() {
        Node node = node(HostTransaction.REFUSE);
        node.gate().clear();

        assertThatExceptionOfType(IllegalTransactionStateException.class)
                .isThrownBy(() -> acquireWithinTransaction(node))
                .withMessageContainingAll(name, "semaphore.host-transaction", "Nothing was acquired");

        assertThat(node.gate().statements()).noneMatch(sql -> sql.contains("semaphore"));
        node.semaphores().acquire(AcquireRequest.of(name)).close();
    }

    private Node node(HostTransaction choice) {
        return cluster.start(
                cluster.schema().newPool(5), TestSettings.defaults().with(SemaphoreSettings.HOST_TRANSACTION, choice));
    }

    private void acquireWithinTransaction(Node node) {
        node.transaction()
                .executeWithoutResult(status ->
                        node.semaphores().acquire(AcquireRequest.of(name)).close());
    }
}
