package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever is in the records of shares and of waiting callers: all that wait are served, and soon by turns again. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ShareRecordsIntegrationTests {

    private static final long INSTANCE = 4711;
    private static final int CALLERS = 7;
    private static final int MANY = 300;
    private static final Duration VALID = Duration.ofMillis(2_500);

    @RegisterExtension
    static final Cluster cluster = new Cluster(3);

    /** Each with the number of instances, and with the tenant of the three keys; without one they are tenants themselves. */
    static Stream<Arguments> changes() {
        return Stream.of(
                        "delete from semaphore_share where %s",
                        "delete from semaphore_share where share_path = '*' and %s",
                        "delete from semaphore_share where share_path <> '*' and %s",
                        "delete from semaphore_share where share_path in ('a/', 't/') and %s",
                        "update semaphore_share set finish = 4611686018427387903 where %s",
                        "update semaphore_share set finish = 9223372036854775807 where %s",
                        "update semaphore_share set finish = 9223372036854775807 where share_path in ('a/', 't/', 't/a') and %s",
                        "update semaphore_share set finish = 1152921504606846975 where share_path = '*' and %s",
                        "update semaphore_share set own_finish = 9223372036854775807, keys_time = -9223372036854775807 where %s",
                        "update semaphore_share set keys_time = 9223372036854775807 where %s",
                        "update semaphore_share set finish = -9223372036854775807 where %s",
                        "update semaphore_share set finish = -9223372036854775807 where share_path = '*' and %s",
                        "update semaphore_share set finish = -1, own_finish = -1, keys_time = -1 where %s")
                .flatMap(change -> Stream.of(
                        Arguments.of(change, 1, ""), Arguments.of(change, 1, "t/"), Arguments.of(change, 2, "")));
    }

    /** After a round each is served in turn again: what a record says is bounded by what a share can be ahead. */
    @Measured
    @ParameterizedTest(name = "{0}, {1} instances, {2}")
    @MethodSource("changes")
    void changedRecordsCostNobodyMoreThanARound(String change, int instances, String tenant) {
        List<String> shares = Stream.of("a", "b", "c").map(key -> tenant + key).toList();
        ShareCallers line = line(instances).hold(1);
        shares.forEach(share -> line.join(CALLERS, share));
        line.serve(4);

        cluster.schema().jdbc().update(change.formatted("semaphore_id = " + id(line.name())));
        line.serveAll();

        List<String> order = line.served();
        assertThat(order).hasSize(CALLERS * shares.size());
        List<String> recovered = ShareCallers.whileAllWait(order.subList(4 + shares.size(), order.size()), shares);
        ShareCallers.check(instances, () -> {
            assertThat(recovered).as("in %s", order).hasSizeGreaterThanOrEqualTo(2 * shares.size());
            assertThat(ShareCallers.distance(recovered, shares, share -> 1))
                    .as("by what is promised, in %s", order)
                    .isLessThanOrEqualTo(1);
        });
    }

    /** With several permits, a share may be several grants ahead, and must not stay as far ahead. */
    @Test
    void aRecordThatIsTooFarAheadDoesNotStarveItsShare() {
        ShareCallers line = new ShareCallers(List.of(cluster.node(0)), cluster.semaphore(4)).hold(4);
        line.join(CALLERS, "a").join(CALLERS, "b").serve(2);

        cluster.schema()
                .jdbc()
                .update("update semaphore_share set finish = 9223372036854775807"
                        + " where share_path = 'a/' and semaphore_id = " + id(line.name()));
        line.serveAll();

        assertThat(line.served().subList(2, 2 + 4 + 2))
                .as("a round, of as many as may be ahead")
                .contains("a");
    }

    /** Nobody waits while the records are changed. */
    @ParameterizedTest(name = "{0}")
    @ValueSource(
            strings = {
                "delete from semaphore_share where share_path <> '*' and %s",
                "update semaphore_share set finish = 9223372036854775807, own_finish = 9223372036854775807 where %s",
                "update semaphore_share set finish = -9223372036854775807, keys_time = 9223372036854775807 where %s"
            })
    void changedRecordsOfAnEmptyLineCostNobodyMoreThanARound(String change) {
        ShareCallers line = line(1).hold(1).join("a/x", "a/x", "b", "b").serveAll();

        cluster.schema().jdbc().update(change.formatted("semaphore_id = " + id(line.name())));
        line.hold(1).join(CALLERS, "a/x").join(CALLERS, "b").serveAll();

        List<String> order = line.served().subList(4, 4 + 2 * CALLERS);
        assertThat(ShareCallers.distance(order, List.of("a/x", "b"), share -> 1))
                .as("by what is promised, in %s", order)
                .isLessThanOrEqualTo(1.5);
    }

    /** Each grant raises the fence, by which an instance knows that nobody else has written records. */
    @Test
    void recordsAreReadAgainOnlyAfterOthersMayHaveWrittenThem() {
        ShareCallers line = line(1).hold(1).join(2 * CALLERS, "a").join(2 * CALLERS, "b");
        StatementGate gate = cluster.node(0).gate();
        line.serve(3);
        gate.clear();

        line.serve(CALLERS);
        long reads = readsOfGrants(gate);
        assertThat(gate.count("insert into semaphore_share")).as("writes").isGreaterThanOrEqualTo(CALLERS);
        gate.clear();
        for (int i = 0; i < CALLERS; i++) { // which raises the fence
            cluster.node(1).admin().setCapacity(line.name(), 1, "test", "raises the fence");
            line.serve(1);
        }

        assertThat(reads).as("a read that failed is repeated").isLessThan(CALLERS / 2);
        assertThat(readsOfGrants(gate)).isGreaterThanOrEqualTo(CALLERS);
    }

    /** Shares without bound have more records than one statement reads. */
    @Test
    void ofManyRecordsOnlyThoseOfCallersAreReadBeforeThePermitsAreSummed() {
        int grants = 60;
        ShareCallers line = line(1).hold(1);
        for (int i = 0; i < grants; i++) {
            line.join("s" + i);
        }
        insertRecords(line, "z", Long.MAX_VALUE / 4);
        insertRecords(line, "y", 0);
        StatementGate gate = cluster.node(0).gate();
        cluster.node(1).admin().setCapacity(line.name(), 1, "test", "raises the fence");
        line.serve(10); // finds out that there are many
        gate.clear();

        line.serve(grants - 10);

        List<String> grantsOnly = statementsOfGrants(gate);
        assertThat(String.join(" ", grantsOnly))
                .as("no read takes a round trip of its own")
                .contains("read sum")
                .doesNotContain("sum read");
        assertThat(gate.count("w.share_path > "))
                .as("looks for records that are not ahead")
                .isLessThan(grants / 4);
        assertThat(recordsOf(line, "z")).as("ahead").isEqualTo(MANY);
        assertThat(recordsOf(line, "y")).as("not ahead").isLessThan(MANY - 2 * (grants - 10));
    }

    private static void insertRecords(ShareCallers line, String prefix, long finish) {
        for (int i = 0; i < MANY; i++) {
            cluster.schema()
                    .jdbc()
                    .update(
                            "insert into semaphore_share(semaphore_id, share_path, finish, own_finish, keys_time, updated_at)"
                                    + " values (?, ?, ?, 0, 0, current_timestamp)",
                            id(line.name()),
                            prefix + i + "/",
                            finish);
        }
    }

    private static long recordsOf(ShareCallers line, String prefix) {
        return cluster.schema()
                .jdbc()
                .queryForObject(
                        "select count(*) from semaphore_share where semaphore_id = ? and share_path like ?",
                        Long.class,
                        id(line.name()),
                        prefix + "%");
    }

    /** What each transaction that wrote records had read, in its order: records, or the sum of permits. */
    private static List<String> statementsOfGrants(StatementGate gate) {
        Map<Integer, List<String>> open = new HashMap<>();
        List<String> all = new ArrayList<>();
        for (StatementGate.Executed each : gate.executions()) {
            if (each.sql().equals("commit") || each.sql().equals("rollback")) {
                open.remove(each.connection());
            } else if (each.sql().startsWith("select") && each.sql().contains("from semaphore_share")) {
                open.computeIfAbsent(each.connection(), added -> new ArrayList<>())
                        .add("read");
            } else if (each.sql().contains("sum(p.count)")) {
                open.computeIfAbsent(each.connection(), added -> new ArrayList<>())
                        .add("sum");
            } else if (each.sql().contains("insert into semaphore_share")) {
                all.add(".");
                all.addAll(Objects.requireNonNullElse(open.get(each.connection()), List.of()));
            }
        }
        return all;
    }

    /** The transactions that read records of shares and wrote some. */
    private static long readsOfGrants(StatementGate gate) {
        Map<Integer, Boolean> hasRead = new HashMap<>();
        long reads = 0;
        for (StatementGate.Executed each : gate.executions()) {
            if (each.sql().equals("commit") || each.sql().equals("rollback")) {
                hasRead.remove(each.connection());
            } else if (each.sql().startsWith("select") && each.sql().contains("from semaphore_share")) {
                hasRead.put(each.connection(), true);
            } else if (each.sql().contains("insert into semaphore_share")) {
                reads += hasRead.containsKey(each.connection()) ? 1 : 0;
            }
        }
        return reads;
    }

    /** Its caller is granted nothing, and is forgotten when the record expires. */
    @Test
    void anInstanceThatIsGoneWhileItsCallerIsFirstDelaysTheOthersForSecondsOnly() {
        ShareCallers line = line(2).hold(1).join("a", "b", "a", "b");
        copyFirst(line, "shares");

        line.serveAll();

        assertThat(line.order()).isEqualTo("a b a b");
    }

    @ParameterizedTest
    @ValueSource(strings = {"garbage", "", "-1 x y z", "0:1 a/b 9999999999999999999999", "1 0:1/a;later"})
    void sharesThatCannotBeReadKeepNobodyFromBeingServed(String shares) {
        ShareCallers line = line(2).hold(1).join("a", "a", "b");
        copyFirst(line, "'" + shares + "'");

        line.serveAll();

        assertThat(line.served()).containsExactlyInAnyOrder("a", "a", "b");
    }

    /** It has one caller, which came last. */
    @Measured
    @Test
    void whileAnInstanceOfAnEarlierVersionWaitsAllAreServedInTheOrderOfTheirArrival() {
        ShareCallers line = line(2).hold(1).join("a", "a", "a", "b");
        line.join(cluster.node(2).semaphores(), "z", line.request("z"));
        copyLast(line, "null");

        line.serve(4);
        List<String> order = line.served();
        line.serveAll();

        assertThat(line.served()).hasSize(5);
        Measurement.check(() -> assertThat(order).containsExactly("a", "a", "a", "b"));
    }

    /** By their shares, the first one would be served behind many others, and the last one before them. */
    @Measured
    @Test
    void manyCallersAreServedByTheirArrivalOnlyWhileAnInstanceOfAnEarlierVersionWaits() {
        try (Node node = Node.on(
                cluster.schema(),
                TestSettings.defaults().with(SemaphoreSettings.WEIGHTS, PerSemaphore.all(Map.of("a", 100))))) {
            ShareCallers line = new ShareCallers(List.of(node), cluster.semaphore(2)).hold(2);
            line.join("z").serve(1).join("z").join(90, "a").join("b");

            insertEarlierVersion(line);
            for (int i = 0; i < 10; i++) {
                confirmEarlierVersion(line);
                line.serve(1);
            }
            deleteEarlierVersion(line);
            List<String> order = line.served();
            line.serveAll();

            assertThat(line.served()).hasSize(1 + 1 + 90 + 1);
            List<String> later = line.served().subList(order.size(), order.size() + 30);
            Measurement.check(() -> {
                assertThat(order).containsExactly("z", "z", "a", "a", "a", "a", "a", "a", "a", "a", "a");
                assertThat(later).as("by their shares").contains("b");
            });
        }
    }

    private static ShareCallers line(int instances) {
        return new ShareCallers(
                IntStream.range(0, instances).mapToObj(cluster::node).toList(), cluster.semaphore(1));
    }

    private static long id(String name) {
        Long id = cluster.schema().jdbc().queryForObject("select id from semaphore where name = ?", Long.class, name);
        return id == null ? 0 : id;
    }

    /** Copies the record of the instance with the first caller, as if another one was killed. */
    private static void copyFirst(ShareCallers line, String shares) {
        copy(line, shares, "min(o.since)");
    }

    private static void copyLast(ShareCallers line, String shares) {
        copy(line, shares, "max(o.since)");
    }

    /** An instance of an earlier version has a caller, which came last. */
    private static void insertEarlierVersion(ShareCallers line) {
        cluster.schema()
                .jdbc()
                .update(
                        "insert into semaphore_waiter (semaphore_id, instance, owner, since, waiting, first_waiters, waiters, expires_at)"
                                + " values (?, ?, 'earlier', ?, 1, '0:1', '1 0:1', ?)",
                        id(line.name()),
                        INSTANCE,
                        now(),
                        now().plus(VALID));
    }

    /** As it does each second. */
    private static void confirmEarlierVersion(ShareCallers line) {
        cluster.schema()
                .jdbc()
                .update(
                        "update semaphore_waiter set expires_at = ? where semaphore_id = ? and instance = ?",
                        now().plus(VALID),
                        id(line.name()),
                        INSTANCE);
    }

    private static void deleteEarlierVersion(ShareCallers line) {
        cluster.schema()
                .jdbc()
                .update(
                        "delete from semaphore_waiter where semaphore_id = ? and instance = ?",
                        id(line.name()),
                        INSTANCE);
    }

    private static LocalDateTime now() {
        return LocalDateTime.ofInstant(cluster.node(0).admin().now(), ZoneOffset.UTC);
    }

    private static void copy(ShareCallers line, String shares, String since) {
        int copied = cluster.schema()
                .jdbc()
                .update(
                        ("insert into semaphore_waiter (semaphore_id, instance, owner, since, waiting, first_waiters, waiters,"
                                        + " shares, expires_at) select w.semaphore_id, %d, w.owner, w.since, w.waiting,"
                                        + " w.first_waiters, w.waiters, %s, w.expires_at from semaphore_waiter w"
                                        + " where w.semaphore_id = ? and w.since ="
                                        + " (select %s from semaphore_waiter o where o.semaphore_id = w.semaphore_id)"
                                        + " order by w.instance limit 1") // two may have come at the same microsecond
                                .formatted(INSTANCE, shares, since),
                        id(line.name()));
        assertThat(copied).isEqualTo(1);
    }
}
