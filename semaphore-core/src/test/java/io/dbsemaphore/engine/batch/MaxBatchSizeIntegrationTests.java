package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code semaphore.jdbc.max-batch-size=1}: one caller per transaction, whatever else is asked for at the same time. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MaxBatchSizeIntegrationTests {

    private static final int CALLERS = 24;
    private static final String INSERT = "insert into permit_request";
    private static final String UPDATE = "update permit_request";

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private HikariDataSource pool;
    private Node node;

    @BeforeEach
    void start() {
        pool = cluster.schema().newPool(4);
        node = new Node(pool, TestSettings.defaults().with(SemaphoreSettings.MAX_BATCH_SIZE, 1));
    }

    @AfterEach
    void stop() {
        node.close();
        pool.close();
    }

    /** They take turns at few permits, so that releases and grants meet. */
    @Test
    void ofOneDecidesOneCallerPerTransaction() throws Exception {
        AcquireRequest request = AcquireRequest.of(cluster.semaphore(3)).withWaitTime(Duration.ofSeconds(30));
        node.gate().clear();

        List<Future<ReleaseOutcome>> callers = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            callers.add(
                    Concurrently.async(() -> node.semaphores().acquire(request).release()));
        }

        for (Future<ReleaseOutcome> caller : callers) {
            assertThat(Concurrently.get(caller)).isEqualTo(ReleaseOutcome.RELEASED);
        }
        assertThat(transactionsWith(INSERT)).hasSize(CALLERS);
        assertThat(transactionsWith(UPDATE))
                .hasSizeGreaterThanOrEqualTo(CALLERS)
                .doesNotContainAnyElementsOf(transactionsWith(INSERT));
    }

    @Test
    void ofOneRenewsOneGrantPerTransaction() throws Exception {
        String name = cluster.semaphore(CALLERS);
        List<PermitGrant> grants = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            grants.add(node.semaphores().acquire(AcquireRequest.of(name)));
        }
        node.gate().clear();

        List<Future<PermitGrant>> renewals = grants.stream()
                .map(grant -> Concurrently.async(() -> grant.renew(Duration.ofMinutes(7))))
                .toList();

        for (Future<PermitGrant> renewal : renewals) {
            assertThat(Concurrently.get(renewal).isHeld()).as("held").isEqualTo(true);
        }
        assertThat(transactionsWith(UPDATE)).hasSizeGreaterThanOrEqualTo(CALLERS);
    }

    /** The transactions that executed this, each told by its connection and the transactions before it. */
    private Set<String> transactionsWith(String begin) {
        Map<Integer, Integer> commits = new HashMap<>();
        Set<String> transactions = new HashSet<>();
        node.gate().executions().forEach(executed -> {
            int before = commits.getOrDefault(executed.connection(), 0);
            if (executed.sql().startsWith(begin)) {
                transactions.add(executed.connection() + "-" + before);
            } else if (executed.sql().equals("commit")) {
                commits.put(executed.connection(), before + 1);
            }
        });
        return transactions;
    }
}
