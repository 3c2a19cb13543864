package io.dbsemaphore.maintenance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.InstanceStatus;
import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.SemaphoreAdmin.PermitUse;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.admin.SemaphoreStatus.Since;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingInstance;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The bounded reports of the administration. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReportsIntegrationTests {

    private static final Duration AN_HOUR = Duration.ofHours(1);

    @RegisterExtension
    static final Instances instances = new Instances(Instances.inBatchesOf(800));

    private final Node operator = instances.first();
    private final Node holder = instances.second();

    @Test
    void showsWhoHeldPermitsWhen() {
        String name = instances.semaphore(3);
        PermitGrant ended = acquire(name, "first");
        ended.release();
        Instant between = operator.admin().now();
        PermitGrant held = acquire(name, "second");

        List<PermitUse> uses = operator.admin()
                .requests(name, between.minusSeconds(60), operator.admin().now(), 10);

        assertThat(uses).extracting(PermitUse::owner).containsExactly("second", "first");
        assertThat(uses.get(0).externalId()).isEqualTo(held.externalId());
        assertThat(uses.get(0).fencingToken()).isEqualTo(held.fencingToken());
        assertThat(uses.get(0).releasedAt()).isEmpty();
        assertThat(uses.get(0).acquiredAt()).isAfterOrEqualTo(between);
        assertThat(uses.get(0).expiresAt()).isPresent();
        assertThat(uses.get(1).releasedAt().orElseThrow()).isBetween(uses.get(1).acquiredAt(), between);
    }

    @Test
    void leavesOutWhatEndedBeforeOrBeganAfterThePeriod() {
        String name = instances.semaphore(3);
        acquire(name, "before").release();
        PermitGrant across = acquire(name, "across");
        awaitNextInstant();
        Instant from = operator.admin().now();
        acquire(name, "within").release();
        Instant to = operator.admin().now();
        awaitNextInstant();
        across.release();
        acquire(name, "after").release();
        PermitGrant later = acquire(name, "held later");

        assertThat(owners(name, from, to, 10)).containsExactly("within", "across");
        assertThat(owners(name, from, to, 1)).containsExactly("within");
        assertThat(owners(name, Instant.MIN, Instant.MAX, 10))
                .containsExactly("held later", "after", "within", "across", "before");
        assertThat(owners(name, Instant.parse("-5000-01-01T00:00:00Z"), from, 10))
                .containsExactly("across", "before");
        assertThat(owners(name, to, Instant.parse("+20000-01-01T00:00:00Z"), 10))
                .containsExactly("held later", "after", "across");
        assertThat(owners(name, from.minus(AN_HOUR.multipliedBy(2)), from.minus(AN_HOUR), 10))
                .isEmpty();
        later.release();
    }

    @Test
    void showsARequestOnceThatIsReleasedWhileTheReportIsRead() {
        String name = instances.semaphore(3);
        acquire(name, "past").release();
        PermitGrant ending = acquire(name, "ending");
        Instant now = operator.admin().now();
        StatementGate.Pause pause = operator.gate().pauseBefore("from (select");
        CompletableFuture<List<PermitUse>> report = CompletableFuture.supplyAsync(
                () -> operator.admin().requests(name, now.minus(AN_HOUR), now.plus(AN_HOUR), 10));
        pause.awaitReached(Instances.SOON);

        ending.release();
        pause.open();

        assertThat(report.join()).extracting(PermitUse::owner).containsExactly("ending", "past");
        assertThat(report.join().get(0).releasedAt()).isPresent();
    }

    @Test
    void showsWhatIsStillHeldBeforeTheLatestReleasedRequests() {
        String name = instances.semaphore(3);
        PermitGrant held = acquire(name, "held");
        long semaphore = instances.number("select id from semaphore where name = ?", name);
        LocalDateTime now = Instances.ago(Duration.ZERO);
        IntStream.rangeClosed(1, 501).forEach(i -> {
            instances
                    .jdbc()
                    .update(
                            "insert into permit_request (id, external_id, owner, state, content_digest, renewed_at, created_at, updated_at)"
                                    + " values (?, ?, 'short', 'RELEASED', 'x', ?, ?, ?)",
                            i,
                            "short-" + i,
                            now,
                            now,
                            now);
            instances
                    .jdbc()
                    .update(
                            "insert into permit (id, semaphore_id, permit_request_id, count, exclusive, state, token)"
                                    + " values (?, ?, ?, 1, 0, 'RELEASED', ?)",
                            i,
                            semaphore,
                            i,
                            held.fencingToken() + i);
        });

        List<PermitUse> uses = operator.admin()
                .requests(
                        name,
                        operator.admin().now().minus(AN_HOUR),
                        operator.admin().now(),
                        500);

        assertThat(uses).hasSize(500).last().extracting(PermitUse::owner).isEqualTo("held");
        assertThat(uses.get(0).externalId()).isEqualTo("short-501");
        assertThat(uses.get(498).externalId()).isEqualTo("short-3");
    }

    @Test
    void findsAPeriodAmongManyRequests() {
        String name = instances.semaphore(3);
        List<Instant> ends = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            acquire(name, "owner-" + i).release();
            ends.add(operator.admin().now());
            awaitNextInstant();
        }

        for (int i = 1; i < 40; i++) {
            assertThat(owners(name, ends.get(i - 1), ends.get(i), 10)).first().isEqualTo("owner-" + i);
        }
    }

    @Test
    void knowsTheInstancesAndWhatTheyKeepAlive() {
        String name = instances.semaphore(3);
        PermitGrant kept = holder.semaphores()
                .acquire(AcquireRequest.of(name).withTtl(AN_HOUR).withKeepAlive(true));
        HolderOf shown = HolderOf.first(operator.admin().holders(name));

        assertThat(operator.admin().instances())
                .filteredOn(instance -> instance.id() == shown.instance())
                .singleElement()
                .satisfies(instance -> {
                    assertThat(instance.alive()).isEqualTo(true);
                    assertThat(instance.requests()).isPositive();
                    assertThat(instance.heartbeatAt()).isAfterOrEqualTo(instance.startedAt());
                    assertThat(instance.heartbeatAt()).isCloseTo(Instant.now(), within(1, ChronoUnit.MINUTES));
                    assertThat(Duration.between(
                                    instance.heartbeatAt(),
                                    instance.reclaimableAt().orElseThrow()))
                            .as("the instance timeout")
                            .isCloseTo(Duration.ofSeconds(20), Duration.ofMillis(1));
                });
        long before = requestsOf(shown.instance());
        kept.release();
        assertThat(requestsOf(shown.instance())).isEqualTo(before - 1);
    }

    @Test
    void pagesThroughTheHoldersAndSearchesThem() {
        String name = instances.semaphore(20);
        IntStream.range(0, 20).forEach(i -> acquire(name, i % 2 == 0 ? "Even-" + i : "Ärzte-" + i));

        List<PermitHolder> first = operator.admin().holders(name, "", 0, 8);
        List<PermitHolder> second =
                operator.admin().holders(name, "", first.get(7).fencingToken(), 8);
        List<PermitHolder> third =
                operator.admin().holders(name, "", second.get(7).fencingToken(), 8);

        List<PermitHolder> all = new ArrayList<>(first);
        all.addAll(second);
        all.addAll(third);
        assertThat(all).isEqualTo(operator.admin().holders(name)).hasSize(20);
        assertThat(operator.admin().holders(name, "eVEN", 0, 100)).hasSize(10);
        assertThat(operator.admin().holders(name, "Ärzte", 0, 100)).hasSize(10);
        assertThat(operator.admin().holders(name, first.get(3).externalId(), 0, 100))
                .containsExactly(first.get(3));
        assertThat(operator.admin().holders(name, "100%", 0, 100)).isEmpty();
    }

    @Test
    void pagesThroughTheSemaphoresAndSearchesThem() {
        String prefix = instances.semaphore(1) + "-";
        List<String> names = IntStream.range(0, 9)
                .mapToObj(i -> prefix + (i % 2 == 0 ? "Ä%" : "o_") + i)
                .sorted()
                .toList();
        names.forEach(name -> operator.admin().create(name, 4));
        acquire(names.get(3), "a");

        List<SemaphoreStatus> first = operator.admin().list(prefix, "", 4);
        List<SemaphoreStatus> second =
                operator.admin().list(prefix, first.get(3).name(), 4);
        List<SemaphoreStatus> third =
                operator.admin().list(prefix, second.get(3).name(), 4);

        List<SemaphoreStatus> all = new ArrayList<>(first);
        all.addAll(second);
        all.addAll(third);
        assertThat(all).extracting(SemaphoreStatus::name).isEqualTo(names);
        assertThat(first.get(3)).isEqualTo(operator.admin().find(names.get(3)).orElseThrow());
        assertThat(first.get(3).held()).isEqualTo(1);
        assertThat(all)
                .isEqualTo(
                        operator.admin().list().stream().filter(all::contains).toList());
        assertThat(operator.admin().list((prefix + "O_").toUpperCase(Locale.ROOT), "", 100))
                .hasSize(4);
        assertThat(operator.admin().list(prefix + "Ä%", "", 100)).hasSize(5);
        assertThat(operator.admin().list("_%", "", 100)).isEmpty();
        assertThat(operator.admin().list("dbsemaphore.maintenance", "", 1)).isEmpty();
    }

    @Measured
    @Test
    void tellsSinceWhenPermitsAreHeldAndCallersWait() {
        String prefix = instances.semaphore(1) + "-";
        List.of("full", "idle", "paused", "paused-at-first")
                .forEach(name -> operator.admin().create(prefix + name, 2));
        operator.admin().setCapacity(prefix + "paused", 7, "ada", "more disks");
        operator.admin().setCapacity(prefix + "paused", 0, "ada", "closing");
        operator.admin().setCapacity(prefix + "paused-at-first", 0, "ada", "closing");
        instances.jdbc().update("delete from capacity_change where semaphore_name = ?", prefix + "paused-at-first");
        acquire(prefix + "full", "first");
        PermitGrant second = acquire(prefix + "full", "second");
        PermitHolder oldest = operator.admin().holders(prefix + "full").get(0);
        CompletableFuture<PermitGrant> waiting = holder.semaphores()
                .acquireAsync(AcquireRequest.of(prefix + "full").withWaitTime(AN_HOUR));
        await().atMost(Instances.SOON)
                .until(() -> !operator.admin().waiting(prefix + "full").isEmpty());

        List<Since> since = operator.admin().since(prefix, "", 4);

        List<WaitingInstance> waitingThen = operator.admin().waiting(prefix + "full");
        assertThat(since).extracting(Since::name).containsExactly(prefix + "full", prefix + "paused");
        assertThat(operator.admin().since(prefix, prefix + "idle", 4))
                .extracting(Since::name)
                .containsExactly(prefix + "paused");
        assertThat(operator.admin().since(prefix + "full", "", 4)).hasSize(1);
        second.release();
        waiting.join().release();
        await().atMost(Instances.SOON)
                .untilAsserted(() -> assertThat(operator.admin().since(prefix, "", 1))
                        .containsExactly(new Since(
                                prefix + "full",
                                Optional.empty(),
                                Optional.of(oldest.acquiredAt()),
                                Optional.empty())));
        Measurement.check(
                () -> { // a record of a waiting instance is valid for a second
                    assertThat(waitingThen).hasSize(1);
                    assertThat(since)
                            .containsExactly(
                                    new Since(
                                            prefix + "full",
                                            Optional.of(waitingThen.get(0).since()),
                                            Optional.of(oldest.acquiredAt()),
                                            Optional.empty()),
                                    new Since(prefix + "paused", Optional.empty(), Optional.empty(), Optional.of(7)));
                });
    }

    @Test
    void countsWhatWasGrantedLately() {
        String name = instances.semaphore(9);
        int before = operator.admin().granted(AN_HOUR);

        acquire(name, "held");
        acquire(name, "released").release();
        PermitGrant earlier = acquire(name, "earlier");
        instances
                .jdbc()
                .update(
                        "update permit_request set created_at = ? where external_id = ?",
                        Instances.ago(AN_HOUR.plusMinutes(1)),
                        earlier.externalId());

        assertThat(operator.admin().granted(AN_HOUR)).isEqualTo(before + 2);
        assertThat(operator.admin().granted(AN_HOUR.plusMinutes(2))).isEqualTo(before + 3);
        assertThat(operator.admin().granted(Duration.ZERO)).isZero();
    }

    @Test
    void showsTheLatestOfTheHistory() {
        String name = instances.semaphore(1);
        operator.admin().setCapacity(name, 2, "ada", "one");
        operator.admin().setCapacity(name, 3, "ada", "two");

        assertThat(operator.admin().capacityHistory(name, 1))
                .extracting(CapacityChange::reason)
                .containsExactly("two");
    }

    @Test
    void refusesWhatCannotBe() {
        Instant now = Instant.now();
        assertThatExceptionOfType(SemaphoreNotFoundException.class)
                .isThrownBy(() -> operator.admin().requests("unknown", now, now, 1));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> operator.admin().requests("any", now, now.minusSeconds(1), 1))
                .withMessageContaining("must not end before it begins");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> operator.admin().requests("any", now, now, 0))
                .withMessage("The limit must be between 1 and 10000: 0");
        assertThatIllegalArgumentException().isThrownBy(() -> operator.admin().holders("any", "", 0, 10_001));
        assertThatIllegalArgumentException().isThrownBy(() -> operator.admin().list("", "", 10_001));
        assertThatIllegalArgumentException().isThrownBy(() -> operator.admin().since("", "", 0));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> operator.admin().granted(Duration.ofHours(25)))
                .withMessage("The time must be between 0 and a day: PT25H");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> operator.admin().list("", "a\n", 1))
                .withMessageStartingWith("afterName must have no control characters");
        assertThatIllegalArgumentException().isThrownBy(() -> operator.admin().capacityHistory("any", -1));
    }

    private record HolderOf(long instance) {

        static HolderOf first(List<PermitHolder> holders) {
            return new HolderOf(holders.get(0).instance().orElseThrow().id());
        }
    }

    private long requestsOf(long instance) {
        return operator.admin().instances().stream()
                .filter(each -> each.id() == instance)
                .mapToLong(InstanceStatus::requests)
                .sum();
    }

    private List<String> owners(String name, Instant from, Instant to, int limit) {
        return operator.admin().requests(name, from, to, limit).stream()
                .map(PermitUse::owner)
                .toList();
    }

    private PermitGrant acquire(String name, String owner) {
        return holder.semaphores()
                .acquire(AcquireRequest.of(name).withOwner(owner).withTtl(AN_HOUR));
    }

    /** Until the database's clock, which has microseconds, has moved on. */
    private void awaitNextInstant() {
        Instant now = operator.admin().now();
        while (!operator.admin().now().isAfter(now)) {
            Thread.onSpinWait();
        }
    }
}
