package io.dbsemaphore.test;

import static io.dbsemaphore.test.SemaphoreAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

import io.dbsemaphore.AcquireFuture;
import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.PermitsExceedCapacityException;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.QueuePosition;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.RequestAlreadyReleasedException;
import io.dbsemaphore.RequestConflictException;
import io.dbsemaphore.RequestInProgressException;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.config.OnFull;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.PeakCounter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** What callers may rely on, of semaphores in memory as of those in a database. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class SemaphoreContract {

    /** The pattern of the {@link #settings}. */
    private static final String PATTERN = "tenant:*";

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private final String name = "s-" + UUID.randomUUID();
    private final String other = "t-" + UUID.randomUUID();

    /** The grants of the callers that {@link #letWait}, in their order. */
    private final BlockingQueue<PermitGrant> grants = new LinkedBlockingQueue<>();

    /** How many of these callers have no grant. */
    private int callers;

    /** The settings of the semaphores. */
    static SemaphoreSettings settings(SemaphoreSettings defaults) {
        return defaults.withPattern(PATTERN, 2)
                .with(SemaphoreSettings.OWNER, "contract")
                .with(
                        SemaphoreSettings.MAX_WAITING,
                        PerSemaphore.all(Integer.MAX_VALUE)
                                .with("two-wait-*", 2)
                                .with("none-waits-*", 0)
                                .with("newest-waits-*", 1))
                .with(
                        SemaphoreSettings.MAX_WAITING_PER_SHARE,
                        PerSemaphore.all(Integer.MAX_VALUE)
                                .with("one-per-share-*", 1)
                                .with("two-wait-one-per-share-*", 1)
                                .with("newest-per-share-*", 1)
                                .with("newest-none-per-share-*", 0))
                .with(
                        SemaphoreSettings.ON_FULL,
                        PerSemaphore.all(OnFull.KEEP_OLDEST)
                                .with("newest-waits-*", OnFull.KEEP_NEWEST)
                                .with("newest-per-share-*", OnFull.KEEP_NEWEST)
                                .with("newest-none-per-share-*", OnFull.KEEP_NEWEST))
                .with(
                        SemaphoreSettings.WEIGHTS,
                        PerSemaphore.all(Map.<String, Integer>of()).with("s-*", Map.of("heavy", 5)))
                .with(SemaphoreSettings.FAIR, PerSemaphore.all(true).with("unfair-*", false));
    }

    abstract SemaphoreTemplate semaphores();

    abstract SemaphoreAdmin admin();

    /** Lets the time of the semaphores come. */
    abstract void awaitTime(Instant instant);

    /** A transaction in which {@code requireHeld} can be called. */
    abstract TransactionTemplate transaction();

    @Test
    void grantsUpToTheCapacity() {
        create(name, 2);

        PermitGrant first = acquire(name);
        PermitGrant second = acquire(name);

        assertThat(semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();
        assertThat(admin()).semaphore(name).hasHeld(2).hasAvailable(0).hasCapacity(2);
        assertThat(first.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(semaphores().tryAcquire(AcquireRequest.of(name))).isPresent();
        assertThat(second.isHeld()).isEqualTo(true);
    }

    @Test
    void listsSomeSemaphoresByName() {
        List<String> names =
                Stream.of("a", "B", "c").map(each -> name + each).sorted().toList();
        names.forEach(each -> create(each, 1));

        assertThat(admin().list(name.toUpperCase(Locale.ROOT), "", 2))
                .extracting(SemaphoreStatus::name)
                .containsExactlyElementsOf(names.subList(0, 2));
        assertThat(admin().list(name, names.get(1), 2))
                .extracting(SemaphoreStatus::name)
                .containsExactly(names.get(2));
    }

    @Test
    void neverGrantsMoreToManyCallers() {
        create(name, 3);
        PeakCounter working = new PeakCounter();

        Concurrently.run(8, DEADLINE, thread -> {
            for (int i = 0; i < 10; i++) {
                semaphores().executeWithoutResult(AcquireRequest.of(name).withWaitTime(DEADLINE), grant -> {
                    working.enter();
                    Thread.onSpinWait();
                    working.leave();
                });
            }
        });

        assertThat(working.peak()).isBetween(1, 3);
        assertThat(admin()).semaphore(name).hasHeld(0);
    }

    @Test
    void describesAGrant() {
        create(name, 5);

        PermitGrant grant = semaphores()
                .acquire(AcquireRequest.of(name, 2)
                        .withOwner("nightly")
                        .withExternalId("job-" + name)
                        .withTtl(MINUTE));

        assertThat(grant.permits()).isEqualTo(Map.of(name, 2));
        assertThat(grant.owner()).isEqualTo("nightly");
        assertThat(grant.externalId()).isEqualTo("job-" + name);
        assertThat(grant.expiresAt()).contains(grant.acquiredAt().plus(MINUTE));
        assertThat(grant.isReplayed()).isEqualTo(false);
        assertThat(grant.isHeld()).isEqualTo(true);
        assertThat(admin()).semaphore(name).hasHeld(2).isHeldBy("nightly");
        assertThat(acquire(name).owner()).isEqualTo("contract");
    }

    @Test
    void tellsWhatHoldsThePermits() {
        create(name, 2);
        AcquireRequest request = AcquireRequest.of(name).withExternalId("job-" + name);

        PermitGrant labelled = semaphores().acquire(request.withLabel("Backups.full"));
        PermitGrant again = semaphores().acquire(request.withLabel("another"));
        PermitGrant plain = acquire(name);

        assertThat(List.of(labelled, again, plain))
                .extracting(PermitGrant::label)
                .containsExactly(Optional.of("Backups.full"), Optional.of("Backups.full"), Optional.empty());
        assertThat(admin().holders(name))
                .extracting(PermitHolder::label)
                .containsExactly(Optional.of("Backups.full"), Optional.empty());
        assertThat(admin().holders(name, "bACKUPS", 0, 10))
                .extracting(PermitHolder::externalId)
                .containsExactly(labelled.externalId());
        Awaitility.await() // a refusal does not wait for long until the holders have been read
                .untilAsserted(() -> assertThatExceptionOfType(PermitsUnavailableException.class)
                        .isThrownBy(() -> semaphores().acquire(AcquireRequest.of(name)))
                        .withMessageContaining(
                                "longest by contract for Backups.full since %s, contract since ",
                                labelled.acquiredAt()));
    }

    @Test
    void tellsARefusedCallerTheNumbers() {
        create(name, 2);
        PermitGrant holder = semaphores().acquire(AcquireRequest.of(name).withTtl(MINUTE));

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> semaphores().acquire(AcquireRequest.of(name, 2)))
                .withMessageContainingAll(name, "1 of 2 held")
                .satisfies(refusal -> assertThat(refusal.shortages())
                        .containsExactly(new PermitShortage(name, 2, 1, 2, holder.expiresAt())));
    }

    @Test
    void refusesMoreThanTheCapacityAsImpossible() {
        create(name, 2);

        assertThatExceptionOfType(PermitsExceedCapacityException.class)
                .isThrownBy(() -> semaphores().tryAcquire(AcquireRequest.of(name, 3)));
    }

    @Test
    void refusesUnknownNames() {
        create(name, 1);

        assertThatExceptionOfType(SemaphoreNotFoundException.class)
                .isThrownBy(() -> semaphores().acquire(AcquireRequest.of(name, "nowhere")))
                .satisfies(unknown -> assertThat(unknown.names()).containsExactly("nowhere"));
        assertThat(admin()).semaphore(name).hasHeld(0);
    }

    @Test
    void createsSemaphoresOfAPattern() {
        String tenant = "tenant:" + name;

        semaphores().acquire(AcquireRequest.of(tenant, 2));

        assertThat(admin()).semaphore(tenant).hasCapacity(2).hasHeld(2);
        assertThat(semaphores().tryAcquire(AcquireRequest.of(tenant))).isEmpty();
    }

    @Test
    void refusesATimeToLiveAboveTheLimit() {
        create(name, 1);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> semaphores().acquire(AcquireRequest.of(name).withTtl(Duration.ofDays(31))))
                .withMessageContaining("semaphore.max-ttl");
    }

    @Test
    void refusesAHeadStartAboveTheLimit() {
        create(name, 1);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> semaphores().acquire(AcquireRequest.of(name).withHeadStart(Duration.ofMinutes(61))))
                .withMessage("The head start must be at most PT1H (semaphore.max-head-start): PT1H1M");
    }

    @Test
    void refusesAShareOfASemaphoreThatIsNotFair() {
        String unfair = "unfair-" + UUID.randomUUID();
        create(name, 1);
        create(unfair, 1);

        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        semaphores().tryAcquire(AcquireRequest.of(name, unfair).withShare("a")))
                .withMessageStartingWith("The share 'a' cannot be kept: semaphore '" + unfair + "' is not fair");
        semaphores().acquire(AcquireRequest.of(name, unfair)).release();
    }

    @Test
    void grantsSeveralSemaphoresTogetherOrNone() {
        create(name, 2);
        create(other, 1);
        PermitGrant inTheWay = acquire(other);

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> semaphores().acquire(AcquireRequest.of(name, other)))
                .satisfies(refusal -> assertThat(refusal.shortages())
                        .extracting(PermitShortage::name)
                        .containsExactly(other));
        assertThat(admin()).semaphore(name).hasHeld(0);
        inTheWay.release();

        PermitGrant both = semaphores().acquire(AcquireRequest.of(other, name));
        assertThat(both.permits()).isEqualTo(Map.of(name, 1, other, 1));
        assertThat(both.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(admin()).semaphore(name).hasHeld(0);
        assertThat(admin()).semaphore(other).hasHeld(0);
    }

    @Test
    void anExclusiveGrantHasTheWholeCapacityWhateverItBecomes() {
        create(name, 3);
        PermitGrant reader = acquire(name);
        assertThat(semaphores().tryAcquire(AcquireRequest.of(name).exclusive())).isEmpty();
        reader.release();

        PermitGrant writer = semaphores().acquire(AcquireRequest.of(name).exclusive());
        admin().setCapacity(name, 5, "operator", "more of them");

        assertThat(writer.permits()).isEqualTo(Map.of(name, 3));
        assertThat(admin()).semaphore(name).hasHeld(3).hasAvailable(0);
        assertThat(semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();
    }

    @Test
    void followsTheCapacity() {
        create(name, 1);
        acquire(name);

        admin().setCapacity(name, 2, "operator", "more of them");
        PermitGrant second = acquire(name);
        admin().setCapacity(name, 0, "operator", "paused");

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> acquire(name))
                .withMessageContaining("is paused");
        assertThat(second.isHeld()).isEqualTo(true);
    }

    @Test
    void fencingTokensGrow() {
        create(name, 2);
        create(other, 2);

        PermitGrant first = acquire(name);
        PermitGrant second = semaphores().acquire(AcquireRequest.of(name, other));

        assertThat(second.fencingToken(name)).isGreaterThan(first.fencingToken());
        first.release();
        assertThat(acquire(name).fencingToken()).isGreaterThan(second.fencingToken(name));
        assertThatIllegalArgumentException().isThrownBy(() -> second.fencingToken("another"));
    }

    @Test
    void handsAReleasedPermitToACallerThatWaits() throws Exception {
        create(name, 1);
        PermitGrant first = acquire(name);
        Future<PermitGrant> waiting = acquireLater(AcquireRequest.of(name));

        first.release();

        assertThat(Concurrently.get(waiting).isHeld()).isEqualTo(true);
        assertThat(admin()).semaphore(name).hasHeld(1);
    }

    @Test
    void refusesACallerWhoseWaitTimeHasPassed() throws Exception {
        create(name, 1);
        acquire(name);
        Future<Optional<PermitGrant>> waiting = Concurrently.async(
                () -> semaphores().tryAcquire(AcquireRequest.of(name).withWaitTime(Duration.ofSeconds(6))));
        awaitWaiting(1);
        assertThat(waiting.isDone()).isEqualTo(false);

        awaitTime(admin().now().plusSeconds(6));

        assertThat(Concurrently.get(waiting)).isEmpty();
    }

    @Test
    void servesCallersInTheOrderOfTheirArrival() throws Exception {
        create(name, 2);
        PermitGrant one = acquire(name);
        PermitGrant two = acquire(name);
        Future<PermitGrant> first = acquireLater(AcquireRequest.of(name, 2));
        Future<PermitGrant> second = Concurrently.async(
                () -> semaphores().acquire(AcquireRequest.of(name).withWaitTime(MINUTE)));
        awaitWaiting(2);

        one.release();
        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> acquire(name))
                .satisfies(refusal ->
                        assertThat(refusal.shortages().get(0).isWithheld()).isEqualTo(true));
        assertThat(List.of(first.isDone(), second.isDone())).containsOnly(false);
        two.release();

        PermitGrant both = Concurrently.get(first);
        assertThat(second.isDone()).isEqualTo(false);
        both.release();
        assertThat(Concurrently.get(second).isHeld()).isEqualTo(true);
    }

    @Test
    void servesCallersWithHeadStartsAsIfTheyHadComeEarlier() throws Exception {
        create(name, 1);
        PermitGrant holder = acquire(name);
        AcquireRequest request = AcquireRequest.of(name).withWaitTime(MINUTE);
        List<Duration> headStarts = List.of(
                Duration.ZERO, Duration.ofMinutes(5), Duration.ZERO, Duration.ofMinutes(10), Duration.ofMinutes(5));
        List<Future<PermitGrant>> waiting = new ArrayList<>();
        for (Duration headStart : headStarts) {
            waiting.add(Concurrently.async(() -> semaphores().acquire(request.withHeadStart(headStart))));
            awaitWaiting(waiting.size());
        }
        assertThat(semaphores().tryAcquire(AcquireRequest.of(name).withHeadStart(Duration.ofMinutes(20))))
                .isEmpty();

        holder.release();

        List<Integer> order = List.of(3, 1, 4, 0, 2);
        for (int i = 0; i < order.size(); i++) {
            PermitGrant granted = Concurrently.get(waiting.get(order.get(i)));
            assertThat(waiting).filteredOn(Future::isDone).hasSize(i + 1);
            granted.release();
        }
    }

    /** What is available, and withheld for another caller, is not withheld from one ahead of that. */
    @Test
    void grantsACallerWithAHeadStartWhatIsWithheldForLaterOnes() throws Exception {
        create(name, 2);
        PermitGrant holder = acquire(name);
        Future<PermitGrant> both = acquireLater(AcquireRequest.of(name, 2));
        AcquireRequest hasty = AcquireRequest.of(name).withHeadStart(Duration.ofMinutes(1));

        assertThat(semaphores().tryAcquire(hasty)).as("it does not wait").isEmpty();
        semaphores().acquire(hasty.withWaitTime(MINUTE)).release();

        assertThat(both.isDone()).isEqualTo(false);
        holder.release();
        Concurrently.get(both).release();
    }

    @Test
    void callersWithSharesTakeTurns() throws Exception {
        create(name, 1);
        PermitGrant holder = acquire(name);
        letWait("a", "a", "a", "a", "b");

        assertThat(serve(5, holder)).isEqualTo("a b a a a");
    }

    @Test
    void aShareThatNobodyWaitedForMakesUpForNothing() throws Exception {
        create(name, 1);
        PermitGrant holder = acquire(name);
        letWait("a", "a", "a", "a");
        assertThat(serve(1, holder)).isEqualTo("a");
        PermitGrant second = nextGrant();

        letWait("b", "b", "b");

        assertThat(serve(5, second)).isEqualTo("b a b a b");
    }

    @Test
    void aShareHasTurnsByItsWeight() throws Exception {
        create(name, 1);
        PermitGrant holder = acquire(name);
        letWait("a", "a", "a", "heavy", "heavy", "heavy", "heavy", "heavy", "heavy", "heavy");

        assertThat(serve(10, holder)).isEqualTo("a heavy heavy heavy heavy heavy a heavy heavy a");
    }

    @Test
    void theKeysOfATenantTakeItsTurns() throws Exception {
        create(name, 1);
        PermitGrant holder = acquire(name);
        letWait("t/x", "t/x", "t/x", "t/y", "u", "u");

        assertThat(serve(6, holder)).isEqualTo("t/x u t/y u t/x t/x");
    }

    @Test
    void callersWithoutAShareTakeTurnsAsOneTenant() throws Exception {
        create(name, 1);
        PermitGrant holder = acquire(name);
        letWait("", "", "", "a", "a/x");

        assertThat(serve(5, holder)).isEqualTo("- a - a/x -");
    }

    @Test
    void aHeadStartOvertakesOnlyCallersOfTheSameTurn() throws Exception {
        create(name, 1);
        PermitGrant holder = acquire(name);
        letWait("b", "a");
        AcquireRequest hasty = request("a").withHeadStart(Duration.ofMinutes(5));
        letWait(hasty.withLabel("a first"));
        letWait(hasty.withLabel("a second"));

        assertThat(serve(4, holder)).isEqualTo("a first b a second a");
    }

    @Test
    void aRepeatedExternalIdIsNoTurn() throws Exception {
        create(name, 1);
        AcquireRequest request = request("a").withExternalId("job-" + name);
        PermitGrant holder = semaphores().acquire(request);
        letWait("a", "b");

        assertThat(semaphores().acquire(request).isReplayed()).isEqualTo(true);

        assertThat(serve(2, holder)).isEqualTo("a b");
    }

    @Test
    void aCallerThatDoesNotWaitHasNoTurn() throws Exception {
        create(name, 2);
        PermitGrant holder = semaphores().acquire(AcquireRequest.of(name, 2));
        letWait("a");
        letWait(request("a").withPermits(name, 2));
        holder.release();
        PermitGrant first = nextGrant();
        AcquireRequest rival = AcquireRequest.of(name).withShare("b");

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> semaphores().acquire(rival))
                .satisfies(refusal ->
                        assertThat(refusal.shortages().get(0).isWithheld()).isEqualTo(true));
        semaphores().acquire(rival.withWaitTime(DEADLINE)).release();

        assertThat(grants).isEmpty();
        first.release();
        nextGrant().release();
    }

    @Test
    void refusesTheFirstCallerWhereTheNewestIsKept() throws Exception {
        String bounded = "newest-waits-" + UUID.randomUUID();
        create(bounded, 2);
        PermitGrant holder = semaphores().acquire(AcquireRequest.of(bounded));
        AcquireRequest both = AcquireRequest.of(bounded, 2).withWaitTime(MINUTE);
        Future<PermitGrant> first = Concurrently.async(() -> semaphores().acquire(both));
        awaitWaiting(bounded, 1);
        Future<PermitGrant> newest = Concurrently.async(() -> semaphores().acquire(both));

        assertThat(first)
                .failsWithin(DEADLINE)
                .withThrowableThat()
                .havingCause()
                .isInstanceOfSatisfying(PermitsUnavailableException.class, refused -> {
                    assertThat(refused)
                            .hasMessageStartingWith(
                                    "A newer caller took the place of this one in the queue of semaphore '" + bounded
                                            + "' (on-full=keep-newest): max-waiting is 1, 1 of 2 held");
                    assertThat(refused.shortages()).singleElement().satisfies(shortage -> {
                        assertThat(shortage.isQueueFull()).isEqualTo(true);
                        assertThat(shortage.displaced()).isEqualTo(true);
                    });
                });
        assertThat(newest.isDone()).isEqualTo(false);
        holder.release();
        Concurrently.get(newest).release();
    }

    @Test
    void refusesTheFirstCallerOfSeveralSemaphoresWhereTheNewestOfOneIsKept() throws Exception {
        String bounded = "newest-waits-" + UUID.randomUUID();
        create(bounded, 2);
        create(name, 1);
        PermitGrant holder = semaphores().acquire(AcquireRequest.of(bounded, 2));
        Future<PermitGrant> first = acquireLater(AcquireRequest.of(bounded, name));
        awaitWaiting(bounded, 1);
        AcquireRequest one = AcquireRequest.of(bounded).withWaitTime(MINUTE);
        Future<PermitGrant> newest = Concurrently.async(() -> semaphores().acquire(one));

        assertThat(first)
                .failsWithin(DEADLINE)
                .withThrowableThat()
                .havingCause()
                .isInstanceOfSatisfying(
                        PermitsUnavailableException.class,
                        refused -> assertThat(refused.shortages())
                                .filteredOn(PermitShortage::displaced)
                                .extracting(PermitShortage::name)
                                .containsExactly(bounded));
        semaphores().acquire(AcquireRequest.of(name)).release();
        holder.release();
        Concurrently.get(newest).release();
    }

    @Test
    void saysWhereACallerStands() throws Exception {
        String name = "position-" + UUID.randomUUID();
        create(name, 1);
        PermitGrant holder = semaphores().acquire(AcquireRequest.of(name));
        AcquireRequest waits = AcquireRequest.of(name).withWaitTime(MINUTE);
        AcquireFuture first = semaphores().acquireAsync(waits);
        awaitWaiting(name, 1);
        List<Long> told = new CopyOnWriteArrayList<>();
        AcquireFuture second = semaphores()
                .acquireAsync(waits.withWaitListener(
                        positions -> told.add(positions.get(0).ahead())));
        awaitWaiting(name, 2);

        Awaitility.await().atMost(DEADLINE).untilAsserted(() -> {
            assertThat(first.positions()).singleElement().returns(0L, QueuePosition::ahead);
            assertThat(second.positions())
                    .singleElement()
                    .returns(name, QueuePosition::name)
                    .returns(1L, QueuePosition::ahead)
                    .returns(false, QueuePosition::isLowerBound);
            assertThat(told).contains(1L);
        });
        holder.release();
        Concurrently.get(first).release();
        Concurrently.get(second).release();
        assertThat(second.positions()).isEmpty();
    }

    @Test
    void refusesACallerForWhomTooManyWait() throws Exception {
        String bounded = "two-wait-" + UUID.randomUUID();
        create(bounded, 2);
        PermitGrant holder = semaphores().acquire(AcquireRequest.of(bounded));
        AcquireRequest both = AcquireRequest.of(bounded, 2).withWaitTime(MINUTE);
        List<Future<PermitGrant>> waiting = new ArrayList<>();
        for (int i = 1; i <= 2; i++) {
            waiting.add(Concurrently.async(() -> semaphores().acquire(both)));
            awaitWaiting(bounded, i);
        }

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> semaphores().acquire(both.withHeadStart(Duration.ofMinutes(1))))
                .withMessageStartingWith(
                        "Semaphore '" + bounded + "' lets no more callers wait: 2 wait, max-waiting is 2, 1 of 2 held")
                .withMessageEndingWith(
                        "Nothing was acquired; try again later, or raise max-waiting to let more callers wait")
                .satisfies(refused -> assertThat(refused.shortages())
                        .singleElement()
                        .satisfies(shortage -> {
                            assertThat(shortage.isQueueFull()).isEqualTo(true);
                            assertThat(shortage.ahead()).isEqualTo(2);
                        }));
        assertThat(waiting).noneMatch(Future::isDone);

        waiting.get(0).cancel(true);
        awaitWaiting(bounded, 1);
        holder.release();
        Concurrently.get(waiting.get(1)).release();
    }

    @Test
    void refusesACallerWithWhoseShareTooManyWait() throws Exception {
        String bounded = "one-per-share-" + UUID.randomUUID();
        create(bounded, 2);
        PermitGrant holder = acquire(bounded);
        AcquireRequest both = AcquireRequest.of(bounded, 2).withWaitTime(MINUTE);
        Future<PermitGrant> first = acquireNext(1, both.withShare("acme/u1"));
        Future<PermitGrant> second = acquireNext(2, both.withShare("acme/u2"));

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> semaphores().acquire(both.withShare("acme/u1")))
                .withMessageStartingWith("Semaphore '" + bounded + "' lets no more callers with share 'acme/u1' wait:"
                        + " 1 wait, max-waiting-per-share is 1, 1 of 2 held")
                .withMessageEndingWith(
                        "Nothing was acquired; try again later, or raise max-waiting-per-share to let more callers wait")
                .satisfies(refused -> assertThat(refused.shortages())
                        .singleElement()
                        .isEqualTo(new PermitShortage(
                                bounded,
                                2,
                                1,
                                2,
                                holder.expiresAt(),
                                1,
                                1,
                                OptionalInt.of(1),
                                false,
                                Optional.empty(),
                                Optional.of("acme/u1"))));
        assertThat(List.of(first.isDone(), second.isDone())).containsOnly(false);
        Future<PermitGrant> ofTenant = acquireNext(3, both.withShare("acme"));

        holder.release();
        for (Future<PermitGrant> served : List.of(first, second, ofTenant)) {
            Concurrently.get(served).release();
        }
    }

    @Test
    void grantsWhatIsAvailableToACallerWithWhoseShareTooManyWait() throws Exception {
        String bounded = "one-per-share-" + UUID.randomUUID();
        create(bounded, 2);
        PermitGrant holder = acquire(bounded);
        AcquireRequest request = AcquireRequest.of(bounded).withShare("acme").withWaitTime(MINUTE);
        Future<PermitGrant> both = acquireNext(1, request.withPermits(bounded, 2));

        semaphores().acquire(request.withHeadStart(Duration.ofMinutes(1))).release();

        assertThat(both.isDone()).isEqualTo(false);
        holder.release();
        Concurrently.get(both).release();
    }

    @Test
    void letsAnyNumberOfCallersWithoutAShareWait() throws Exception {
        String bounded = "one-per-share-" + UUID.randomUUID();
        create(bounded, 1);
        PermitGrant holder = acquire(bounded);
        AcquireRequest request = AcquireRequest.of(bounded).withWaitTime(MINUTE);
        List<Future<PermitGrant>> waiting = new ArrayList<>();
        for (AcquireRequest each : List.of(request, request, request.withShare("acme"), request)) {
            waiting.add(acquireNext(waiting.size() + 1, each));
        }

        assertThat(waiting).noneMatch(Future::isDone);
        holder.release();
        for (Future<PermitGrant> served : List.of(waiting.get(0), waiting.get(2), waiting.get(1), waiting.get(3))) {
            Concurrently.get(served).release();
        }
    }

    @Test
    void refusesTheFirstCallerOfAShareWhereItsNewestIsKept() throws Exception {
        String bounded = "newest-per-share-" + UUID.randomUUID();
        create(bounded, 2);
        PermitGrant holder = acquire(bounded);
        AcquireRequest both = AcquireRequest.of(bounded, 2).withWaitTime(MINUTE);
        Future<PermitGrant> withoutShare = acquireNext(1, both);
        Future<PermitGrant> ofOther = acquireNext(2, both.withShare("other"));
        Future<PermitGrant> first = acquireNext(3, both.withShare("acme/u1"));
        Future<PermitGrant> newest = Concurrently.async(() -> semaphores().acquire(both.withShare("acme/u1")));

        assertThat(first)
                .failsWithin(DEADLINE)
                .withThrowableThat()
                .havingCause()
                .isInstanceOfSatisfying(PermitsUnavailableException.class, refused -> {
                    assertThat(refused)
                            .hasMessageStartingWith(
                                    "A newer caller with share 'acme/u1' took the place of this one in the queue of semaphore '"
                                            + bounded
                                            + "' (on-full=keep-newest): max-waiting-per-share is 1, 1 of 2 held");
                    assertThat(refused.shortages())
                            .singleElement()
                            .returns(true, PermitShortage::displaced)
                            .returns(OptionalInt.of(1), PermitShortage::maxWaiting)
                            .returns(1L, PermitShortage::ahead)
                            .returns(0L, PermitShortage::withheld)
                            .returns(Optional.of("acme/u1"), PermitShortage::fullShare);
                });
        awaitWaiting(bounded, 3);
        assertThat(List.of(withoutShare.isDone(), ofOther.isDone(), newest.isDone()))
                .containsOnly(false);
        holder.release();
        for (Future<PermitGrant> served : List.of(withoutShare, ofOther, newest)) {
            Concurrently.get(served).release();
        }
    }

    @Test
    void refusesTheNewestCallerWithAShareWhereNoneMayWait() throws Exception {
        String bounded = "newest-none-per-share-" + UUID.randomUUID();
        create(bounded, 1);
        AcquireRequest request = AcquireRequest.of(bounded).withWaitTime(MINUTE);
        PermitGrant holder = semaphores().acquire(request.withShare("acme"));
        Future<PermitGrant> withoutShare = acquireNext(1, request);

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> semaphores().acquire(request.withShare("acme")))
                .satisfies(refused -> assertThat(refused.shortages())
                        .singleElement()
                        .returns(OptionalInt.of(0), PermitShortage::maxWaiting)
                        .returns(0L, PermitShortage::ahead)
                        .returns(false, PermitShortage::displaced)
                        .returns(Optional.of("acme"), PermitShortage::fullShare));
        assertThat(withoutShare.isDone()).isEqualTo(false);
        holder.release();
        Concurrently.get(withoutShare).release();
    }

    @Test
    void namesTheLimitOfAllCallersWhereThatOfTheShareIsReachedToo() throws Exception {
        String bounded = "two-wait-one-per-share-" + UUID.randomUUID();
        create(bounded, 1);
        PermitGrant holder = acquire(bounded);
        AcquireRequest request = AcquireRequest.of(bounded).withWaitTime(MINUTE);
        Future<PermitGrant> first = acquireNext(1, request.withShare("acme"));
        assertThat(shortage(request.withShare("acme")).fullShare()).contains("acme");
        Future<PermitGrant> second = acquireNext(2, request);

        assertThat(shortage(request.withShare("acme")))
                .returns(OptionalInt.of(2), PermitShortage::maxWaiting)
                .returns(2L, PermitShortage::ahead)
                .returns(Optional.empty(), PermitShortage::fullShare);

        holder.release();
        Concurrently.get(first).release();
        Concurrently.get(second).release();
    }

    @Test
    void aCallerOfSeveralSemaphoresIsRefusedWhereItsShareIsFullForOne() throws Exception {
        String bounded = "one-per-share-" + UUID.randomUUID();
        create(bounded, 2);
        create(name, 1);
        PermitGrant holder = semaphores().acquire(AcquireRequest.of(bounded, name));
        AcquireRequest both = AcquireRequest.of(bounded, 2).withShare("acme").withWaitTime(MINUTE);
        Future<PermitGrant> waiting = acquireNext(1, both);

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> semaphores()
                        .acquire(AcquireRequest.of(bounded, name)
                                .withShare("acme")
                                .withWaitTime(MINUTE)))
                .satisfies(refused -> assertThat(refused.shortages())
                        .extracting(PermitShortage::name, PermitShortage::fullShare)
                        .containsExactly(tuple(bounded, Optional.of("acme")), tuple(name, Optional.empty())));

        holder.release();
        Concurrently.get(waiting).release();
    }

    @Test
    void grantsWhatIsAvailableWhereNobodyMayWait() {
        String bounded = "none-waits-" + UUID.randomUUID();
        create(bounded, 1);
        AcquireRequest request = AcquireRequest.of(bounded).withWaitTime(MINUTE);

        PermitGrant holder = semaphores().acquire(request);
        assertThat(semaphores().tryAcquire(request)).isEmpty();
        holder.release();

        semaphores().acquire(request).release();
    }

    @Test
    void anInterruptEndsTheWait() throws Exception {
        create(name, 1);
        PermitGrant holder = acquire(name);
        CompletableFuture<Thread> waiting = new CompletableFuture<>();
        Future<Boolean> interrupted = Concurrently.async(() -> {
            waiting.complete(Thread.currentThread());
            assertThatExceptionOfType(AcquireInterruptedException.class)
                    .isThrownBy(
                            () -> semaphores().acquire(AcquireRequest.of(name).withWaitTime(MINUTE)));
            return Thread.interrupted();
        });
        awaitWaiting(1);

        waiting.get().interrupt();

        assertThat(Concurrently.get(interrupted)).isEqualTo(true);
        holder.release();
        assertThat(acquire(name).isHeld()).isEqualTo(true);
    }

    @Test
    void acquiresWithoutAThread() throws Exception {
        create(name, 1);
        PermitGrant holder = acquire(name);
        CompletableFuture<PermitGrant> waiting =
                semaphores().acquireAsync(AcquireRequest.of(name).withWaitTime(MINUTE));
        CompletableFuture<PermitGrant> cancelled =
                semaphores().acquireAsync(AcquireRequest.of(name).withWaitTime(MINUTE));
        awaitWaiting(2);

        cancelled.cancel(true);
        holder.release();

        assertThat(Concurrently.get(waiting).release()).isEqualTo(ReleaseOutcome.RELEASED);
        Awaitility.await()
                .untilAsserted(() -> assertThat(admin()).semaphore(name).hasHeld(0));
        assertThatThrownBy(() ->
                        semaphores().acquireAsync(AcquireRequest.of("nowhere")).get(30, TimeUnit.SECONDS))
                .hasCauseInstanceOf(SemaphoreNotFoundException.class);
    }

    @Test
    void aDependentActionBlocksNeitherTheReleaseNorAnAcquire() throws Exception {
        create(name, 1);
        create(other, 1);
        PermitGrant first = acquire(name);
        CountDownLatch gone = new CountDownLatch(1);
        CompletableFuture<Boolean> blocked = semaphores()
                .acquireAsync(AcquireRequest.of(name).withWaitTime(MINUTE))
                .thenApply(grant -> awaits(gone));
        awaitWaiting(1);

        first.release();
        PermitGrant beside = Concurrently.get(semaphores().acquireAsync(AcquireRequest.of(other)));

        assertThat(beside.isHeld()).isEqualTo(true);
        assertThat(blocked.isDone()).isEqualTo(false);
        gone.countDown();
        assertThat(Concurrently.get(blocked)).isEqualTo(true);
    }

    @Test
    void aDependentActionIsInNoTransactionOfItsCaller() {
        create(name, 1);
        PermitGrant first = acquire(name);

        transaction().executeWithoutResult(status -> {
            CompletableFuture<Void> checked = semaphores()
                    .acquireAsync(AcquireRequest.of(name).withWaitTime(MINUTE))
                    .thenAccept(semaphores()::requireHeld);
            awaitWaiting(1);
            first.release();

            assertThatThrownBy(() -> Concurrently.get(checked))
                    .hasCauseInstanceOf(IllegalTransactionStateException.class);
        });
    }

    @Test
    void expiresWhenTheTimeToLiveHasPassed() {
        create(name, 1);
        PermitGrant expiring = semaphores().acquire(AcquireRequest.of(name).withTtl(Duration.ofSeconds(6)));
        assertThat(semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();

        awaitTime(expiring.expiresAt().orElseThrow());

        assertThat(expiring.isHeld()).isEqualTo(false);
        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> expiring.renew(MINUTE));
        PermitGrant next = acquire(name);
        assertThat(next.fencingToken()).isGreaterThan(expiring.fencingToken());
        assertThat(expiring.release()).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
        assertThat(next.isHeld()).isEqualTo(true);
    }

    @Test
    void aCallerThatWaitsGetsWhatExpires() throws Exception {
        create(name, 1);
        PermitGrant expiring = semaphores().acquire(AcquireRequest.of(name).withTtl(Duration.ofSeconds(6)));
        Future<PermitGrant> waiting = acquireLater(AcquireRequest.of(name));

        awaitTime(expiring.expiresAt().orElseThrow());

        assertThat(Concurrently.get(waiting).isHeld()).isEqualTo(true);
    }

    @Test
    void anExpiredGrantThatNobodyNeedsCanBeReleasedOrRevived() {
        create(name, 2);
        AcquireRequest request =
                AcquireRequest.of(name).withTtl(Duration.ofSeconds(1)).withExternalId("job-" + name);
        PermitGrant revived = semaphores().acquire(request);
        PermitGrant released = semaphores().acquire(AcquireRequest.of(name).withTtl(Duration.ofSeconds(1)));
        awaitTime(released.expiresAt().orElseThrow());

        assertThat(released.release()).isEqualTo(ReleaseOutcome.RELEASED);
        PermitGrant again = semaphores().acquire(request.withTtl(MINUTE));

        assertThat(again.isReplayed()).isEqualTo(true);
        assertThat(again.fencingToken()).isEqualTo(revived.fencingToken());
        assertThat(again.isHeld()).isEqualTo(true);
    }

    @Test
    void keepsAGrantAliveUntilItsMaximumHold() {
        create(name, 1);
        PermitGrant alive = semaphores()
                .acquire(AcquireRequest.of(name)
                        .withTtl(Duration.ofSeconds(8))
                        .withKeepAlive(true)
                        .withMaxHold(Duration.ofSeconds(16)));

        awaitTime(alive.acquiredAt().plusMillis(9500));
        assertThat(alive.isHeld()).isEqualTo(true);
        assertThat(semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();

        awaitTime(alive.acquiredAt().plusSeconds(17));
        Awaitility.await("the last renewal, which may take some time")
                .atMost(DEADLINE)
                .until(() -> semaphores().tryAcquire(AcquireRequest.of(name)), Optional::isPresent);
        assertThat(alive.isHeld()).isEqualTo(false);
    }

    @Test
    void aGrantWithoutATimeToLiveStays() {
        create(name, 1);

        PermitGrant grant = semaphores().acquire(AcquireRequest.of(name).withoutTtl());
        assertThat(grant.expiresAt()).isEmpty();
        assertThat(semaphores().renew(grant.externalId(), MINUTE).expiresAt()).isPresent();
    }

    @Test
    void renewsAGrant() {
        create(name, 1);
        PermitGrant grant = semaphores().acquire(AcquireRequest.of(name).withTtl(MINUTE));

        grant.renew(Duration.ofHours(1));

        assertThat(grant.expiresAt().orElseThrow())
                .isAfterOrEqualTo(grant.acquiredAt().plus(Duration.ofHours(1)));
        assertThat(semaphores().find(grant.externalId())).get().satisfies(found -> {
            assertThat(found.isReplayed()).isEqualTo(true);
            assertThat(found.expiresAt()).isEqualTo(grant.expiresAt());
        });
        assertThatExceptionOfType(PermitLostException.class)
                .isThrownBy(() -> semaphores().renew("unknown-" + name, MINUTE));
        assertThatIllegalArgumentException().isThrownBy(() -> grant.renew(Duration.ZERO));
    }

    @Test
    void releasesOnce() {
        create(name, 1);
        PermitGrant grant = acquire(name);

        assertThat(semaphores().release(grant.externalId())).isEqualTo(ReleaseOutcome.RELEASED);

        assertThat(grant.isHeld()).isEqualTo(false);
        assertThat(grant.release()).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
        assertThat(semaphores().release(grant.externalId())).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
        assertThat(semaphores().release("unknown-" + name)).isEqualTo(ReleaseOutcome.NOT_FOUND);
        assertThat(semaphores().find(grant.externalId())).isEmpty();
    }

    @Test
    void anExternalIdIsOneGrant() {
        create(name, 5);
        AcquireRequest request = AcquireRequest.of(name).withExternalId("job-" + name);

        PermitGrant first = semaphores().acquire(request);
        PermitGrant again = semaphores().acquire(request.withOwner("restarted").withTtl(Duration.ofHours(1)));

        assertThat(again.isReplayed()).isEqualTo(true);
        assertThat(again.fencingToken()).isEqualTo(first.fencingToken());
        assertThat(again.owner()).isEqualTo(first.owner());
        assertThat(again.expiresAt().orElseThrow())
                .isAfterOrEqualTo(first.acquiredAt().plus(Duration.ofHours(1)));
        assertThat(admin()).semaphore(name).hasHeld(1);
        assertThatExceptionOfType(RequestConflictException.class)
                .isThrownBy(() -> semaphores().acquire(request.withPermits(name, 2)))
                .withMessageContaining(name);
        again.release();
        assertThat(first.isHeld()).isEqualTo(false);
        assertThatExceptionOfType(RequestAlreadyReleasedException.class)
                .isThrownBy(() -> semaphores().acquire(request));
    }

    @Test
    void runsTheWorkOfAHeldRequestOnlyIfItAdoptsIt() {
        create(name, 5);
        AcquireRequest request =
                AcquireRequest.of(name).withExternalId("job-" + name).withOwner("nightly");
        PermitGrant held = semaphores().acquire(request);

        assertThatExceptionOfType(RequestInProgressException.class)
                .isThrownBy(() -> semaphores().execute(request, grant -> "never"))
                .satisfies(refusal -> assertThat(refusal.owner()).isEqualTo("nightly"));
        long token = semaphores().execute(request.withAdopt(true), PermitGrant::fencingToken);

        assertThat(token).isEqualTo(held.fencingToken());
        assertThat(held.isHeld()).isEqualTo(false);
    }

    @Test
    void anOperatorTakesAGrant() {
        create(name, 1);
        PermitGrant taken = acquire(name);

        assertThat(admin().forceRelease(taken.externalId(), "operator", "stuck"))
                .isEqualTo(ReleaseOutcome.RELEASED);

        assertThat(acquire(name).isHeld()).isEqualTo(true);
        assertThat(taken.isHeld()).isEqualTo(false);
        assertThat(taken.release()).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
    }

    @Test
    void requireHeldNeedsATransactionAndTheGrant() {
        create(name, 1);
        PermitGrant grant = acquire(name);

        transaction().executeWithoutResult(status -> semaphores().requireHeld(grant));
        assertThatExceptionOfType(IllegalTransactionStateException.class)
                .isThrownBy(() -> semaphores().requireHeld(grant));
        grant.release();

        assertThatExceptionOfType(PermitLostException.class)
                .isThrownBy(() -> transaction()
                        .executeWithoutResult(status -> semaphores().requireHeld(grant)));
    }

    @Test
    void requireHeldNeedsATransactionThatHasNotCompleted() {
        create(name, 1);
        PermitGrant grant = acquire(name);
        List<Throwable> refusals = new ArrayList<>();

        transaction()
                .executeWithoutResult(status ->
                        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

                            @Override
                            public void afterCompletion(int completion) {
                                refusals.add(catchThrowable(() -> semaphores().requireHeld(grant)));
                            }
                        }));

        assertThat(refusals).singleElement().isInstanceOf(IllegalTransactionStateException.class);
    }

    @Test
    void requireHeldAcceptsAnExpiredGrantUntilAnotherAcquireTakesItsPermits() {
        create(name, 1);
        PermitGrant expired = semaphores().acquire(AcquireRequest.of(name).withTtl(Duration.ofSeconds(1)));
        awaitTime(expired.expiresAt().orElseThrow());
        assertThat(expired.isHeld()).isEqualTo(false);

        transaction().executeWithoutResult(status -> semaphores().requireHeld(expired));
        acquire(name);

        assertThatExceptionOfType(PermitLostException.class)
                .isThrownBy(() -> transaction()
                        .executeWithoutResult(status -> semaphores().requireHeld(expired)));
    }

    @Test
    void aReleaseWaitsForTheTransactionThatHasCheckedTheGrant() {
        create(name, 1);
        PermitGrant grant = acquire(name);

        transaction().executeWithoutResult(status -> {
            semaphores().requireHeld(grant);
            assertThat(grant.release()).isEqualTo(ReleaseOutcome.DEFERRED);
            assertThat(grant.isHeld()).isEqualTo(false);
            assertThat(semaphores().find(grant.externalId())).isPresent();
        });

        Awaitility.await()
                .untilAsserted(() -> assertThat(admin()).semaphore(name).hasHeld(0));
    }

    @Test
    void aReleaseWaitsForASuspendedTransactionAndForNoOther() {
        create(name, 1);
        create(other, 1);
        PermitGrant outer = acquire(name);
        PermitGrant inner = acquire(other);
        TransactionTemplate innerTransaction = transaction();
        innerTransaction.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);

        transaction().executeWithoutResult(suspended -> {
            semaphores().requireHeld(outer);
            innerTransaction.executeWithoutResult(status -> {
                semaphores().requireHeld(inner);
                assertThat(List.of(outer.release(), inner.release())).containsOnly(ReleaseOutcome.DEFERRED);
            });

            Awaitility.await()
                    .untilAsserted(() -> assertThat(admin()).semaphore(other).hasHeld(0));
            assertThat(admin()).semaphore(name).hasHeld(1);
        });

        Awaitility.await()
                .untilAsserted(() -> assertThat(admin()).semaphore(name).hasHeld(0));
    }

    private void create(String semaphore, int capacity) {
        assertThat(admin().create(semaphore, capacity)).isEqualTo(true);
    }

    private PermitGrant acquire(String semaphore) {
        return semaphores().acquire(AcquireRequest.of(semaphore));
    }

    /** Acquires on a thread of its own, which waits when this returns. */
    private Future<PermitGrant> acquireLater(AcquireRequest request) throws Exception {
        Future<PermitGrant> waiting = Concurrently.async(() -> semaphores().acquire(request.withWaitTime(MINUTE)));
        awaitWaiting(1);
        assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> waiting.get(1, TimeUnit.MILLISECONDS));
        return waiting;
    }

    /** Acquires on a thread of its own, which waits with as many others as make this number when this returns. */
    private Future<PermitGrant> acquireNext(int waiting, AcquireRequest request) {
        Future<PermitGrant> next = Concurrently.async(() -> semaphores().acquire(request));
        awaitWaiting(request.permits().keySet().iterator().next(), waiting);
        return next;
    }

    /** The shortage of a caller that is refused. */
    private PermitShortage shortage(AcquireRequest request) {
        PermitsUnavailableException refused = catchThrowableOfType(
                PermitsUnavailableException.class, () -> semaphores().acquire(request));
        return refused.shortages().get(0);
    }

    /** Lets callers wait one after the other, each with a share as its label. Callers whose share is empty have none. */
    private void letWait(String... shares) {
        for (String share : shares) {
            letWait(request(share));
        }
    }

    private AcquireRequest request(String share) {
        AcquireRequest request = AcquireRequest.of(name);
        return share.isEmpty()
                ? request.withLabel("-")
                : request.withShare(share).withLabel(share);
    }

    /** Lets a caller wait, without a thread. */
    private void letWait(AcquireRequest request) {
        CompletableFuture<Void> waiting =
                semaphores().acquireAsync(request.withWaitTime(MINUTE)).thenAccept(grants::add);
        callers++;
        Awaitility.await()
                .pollInterval(10, TimeUnit.MILLISECONDS)
                .failFast(() -> assertThat(waiting).isNotDone())
                .untilAsserted(() -> assertThat(admin()).semaphore(name).hasWaiting(callers));
    }

    /** The grant of the caller that is served next. */
    private PermitGrant nextGrant() throws InterruptedException {
        callers--;
        return Objects.requireNonNull(grants.poll(30, TimeUnit.SECONDS), "nobody is granted a permit");
    }

    /** Releases a grant, then those of the callers that are served next. Returns the labels of these callers. */
    private String serve(int count, PermitGrant holder) throws InterruptedException {
        holder.release();
        List<String> labels = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            PermitGrant next = nextGrant();
            labels.add(next.label().orElseThrow());
            next.release();
        }
        return String.join(" ", labels);
    }

    private static boolean awaits(CountDownLatch latch) {
        try {
            return latch.await(20, TimeUnit.SECONDS);
        } catch (InterruptedException interrupt) {
            throw new IllegalStateException(interrupt);
        }
    }

    private void awaitWaiting(int callers) {
        awaitWaiting(name, callers);
    }

    private void awaitWaiting(String semaphore, int callers) {
        Awaitility.await()
                .pollInterval(10, TimeUnit.MILLISECONDS)
                .untilAsserted(() -> assertThat(admin()).semaphore(semaphore).hasWaiting(callers));
    }
}
