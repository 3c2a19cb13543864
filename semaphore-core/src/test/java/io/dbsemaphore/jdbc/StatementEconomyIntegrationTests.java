package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.engine.batch.WaitingCallers;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.StatementGate.Executed;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How many round trips are made. One more is a mistake, whatever it is for. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB}) // elsewhere limits are told to each transaction
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StatementEconomyIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(10);
    private static final int CALLERS = 10;

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private final Node node = cluster.node(0);
    private final StatementGate gate = node.gate();
    private final ExecutorService callers = Executors.newCachedThreadPool();

    @AfterEach
    void stop() {
        callers.shutdownNow();
    }

    @Test
    void anAcquireIsSixRoundTripsAndAReleaseThree() {
        String name = cluster.semaphore(1);
        List<List<String>> acquires = new ArrayList<>();
        List<List<String>> releases = new ArrayList<>();
        for (int i = 0; i < 30; i++) { // warm sessions are kept for milliseconds; one of these is warm
            gate.clear();
            PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name));
            acquires.add(gate.statements());
            gate.clear();
            grant.release();
            releases.add(gate.statements());
        }

        List<String> acquire = shortest(acquires);
        assertThat(acquire).hasSize(6);
        assertThat(acquire.get(0)).startsWith("select").contains("from semaphore", "for update");
        assertThat(acquire.get(1)).startsWith("select").contains("sum(").doesNotContain("for update");
        assertThat(acquire.get(2)).startsWith("update semaphore");
        assertThat(acquire.get(3)).startsWith("insert into permit_request");
        assertThat(acquire.get(4)).startsWith("insert into permit(");
        assertThat(acquire.get(5)).isEqualTo("commit");
        List<String> release = shortest(releases);
        assertThat(release).hasSize(3);
        assertThat(release.get(0)).startsWith("update permit ");
        assertThat(release.get(1)).startsWith("update permit_request");
        assertThat(release.get(2)).isEqualTo("commit");
    }

    @Test
    void anAcquireOfManyNamesIsAsManyRoundTripsAsOfOne() {
        String[] names =
                IntStream.range(0, 8).mapToObj(i -> cluster.semaphore(1)).toArray(String[]::new);
        List<List<String>> acquires = new ArrayList<>();
        List<List<String>> releases = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            gate.clear();
            PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(names));
            acquires.add(gate.statements());
            gate.clear();
            grant.release();
            releases.add(gate.statements());
        }

        assertThat(shortest(acquires)).hasSize(6);
        assertThat(shortest(releases)).hasSize(3);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisabledIfSystemProperty(named = TestSettings.MAX_BATCH_SIZE, matches = "1", disabledReason = "about batches")
    void manyCallersAreAsManyRoundTripsAsOne(boolean severalNames) {
        String name = cluster.semaphore(CALLERS + 1);
        Pause pause = gate.pauseBefore("commit");
        CompletableFuture<PermitGrant> first =
                async(() -> node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(SOON)));
        pause.awaitReached(SOON);
        Set<Thread> waiting = ConcurrentHashMap.newKeySet();
        List<CompletableFuture<PermitGrant>> others = IntStream.range(0, CALLERS)
                .mapToObj(i -> severalNames ? AcquireRequest.of(name, cluster.semaphore(1)) : AcquireRequest.of(name))
                .map(request -> async(() -> {
                    waiting.add(Thread.currentThread());
                    return node.semaphores().acquire(request.withWaitTime(SOON));
                }))
                .toList();
        Awaitility.await().atMost(SOON).until(() -> WaitingCallers.count(waiting) == CALLERS);
        gate.clear();

        pause.open();

        others.forEach(this::join);
        join(first);
        List<String> transaction = transactionOf("insert into permit(");
        assertThat(transaction).filteredOn(sql -> !sql.contains("session")).hasSize(severalNames ? 7 : 6);
        assertThat(transaction)
                .anyMatch(sql ->
                        sql.startsWith("insert into permit_request") && sql.split("\\), \\(", -1).length == CALLERS);
    }

    @Test
    @DisabledIfSystemProperty(named = TestSettings.MAX_BATCH_SIZE, matches = "1", disabledReason = "about batches")
    void manyReleasesAreFourStatements() {
        String name = cluster.semaphore(CALLERS + 1);

        List<String> transaction = Awaitility.await() // until several threads were quick enough for one batch
                .atMost(SOON)
                .until(
                        () -> releasesAtOnce(name),
                        statements -> statements.toString().contains("in (?, ?"));

        assertThat(transaction).filteredOn(sql -> !sql.contains("session")).hasSize(4);
        assertThat(cluster.held(name)).isZero();
    }

    /** Releases many grants beside one whose release goes on. Returns the statements of the first transaction of theirs. */
    private List<String> releasesAtOnce(String name) {
        PermitGrant first = node.semaphores().acquire(AcquireRequest.of(name));
        List<PermitGrant> others = IntStream.range(0, CALLERS)
                .mapToObj(i -> node.semaphores().acquire(AcquireRequest.of(name)))
                .toList();
        Pause pause = gate.pauseBefore("commit");
        CompletableFuture<?> firstRelease = async(first::release);
        pause.awaitReached(SOON);
        gate.clear();
        List<? extends CompletableFuture<?>> releases =
                others.stream().map(grant -> async(grant::release)).toList();
        releases.forEach(this::join);
        pause.open();
        join(firstRelease);
        return transactionOf("update permit set state = 'RELEASED' where id in (?");
    }

    /** The statements of the transaction with the longest statement that has this part. */
    private List<String> transactionOf(String part) {
        List<List<String>> transactions = transactions();
        String longest = transactions.stream()
                .flatMap(List::stream)
                .filter(sql -> sql.contains(part))
                .max(Comparator.comparingInt(String::length))
                .orElseThrow(() -> new AssertionError("No \"" + part + "\" in " + transactions));
        return transactions.stream()
                .filter(transaction -> transaction.contains(longest))
                .findFirst()
                .orElseThrow();
    }

    /** What was executed and committed, by transaction: one after the other on each connection. */
    private List<List<String>> transactions() {
        List<List<String>> ended = new ArrayList<>();
        Map<Integer, List<String>> open = new HashMap<>();
        for (Executed each : gate.executions()) {
            if (each.sql()
                    .equals("rollback")) { // of what a former borrower left; a driver that knows of nothing sends none
                open.remove(each.connection());
                continue;
            }
            open.computeIfAbsent(each.connection(), connection -> new ArrayList<>())
                    .add(each.sql());
            if (each.sql().equals("commit")) {
                ended.add(open.remove(each.connection()));
            }
        }
        return ended;
    }

    private static List<String> shortest(List<List<String>> all) {
        return all.stream().min(Comparator.comparingInt(List::size)).orElseThrow();
    }

    private <T> CompletableFuture<T> async(Supplier<T> task) {
        return CompletableFuture.supplyAsync(task, callers);
    }

    private <T> T join(CompletableFuture<T> task) {
        return task.orTimeout(SOON.toSeconds(), TimeUnit.SECONDS).join();
    }
}
