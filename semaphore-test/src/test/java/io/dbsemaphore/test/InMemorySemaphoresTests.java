package io.dbsemaphore.test;

import static io.dbsemaphore.test.SemaphoreAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.dbsemaphore.AcquireFuture;
import io.dbsemaphore.AcquireOutcomeUnknownException;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.Permits;
import io.dbsemaphore.PermitsExceedCapacityException;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.admin.PatternLimitExceededException;
import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What semaphores in memory have beside the contract. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InMemorySemaphoresTests {

    private final InMemorySemaphores semaphores =
            InMemorySemaphores.of("backup", 1).with("tenant:*", 2);

    private static final Duration SOON = Duration.ofSeconds(10);

    static class Backups {

        @WithPermits(
                names = {"backup", "tenant:#{#tenant}"},
                waitTime = "${backups.wait-time:1h}")
        public PermitGrant backUp(String tenant) {
            Permits.assertHeld("backup");
            return Permits.current();
        }
    }

    @Test
    void guardsAnAnnotatedObject() {
        Backups backups = semaphores.guard(new Backups());

        PermitGrant grant = backups.backUp("a");

        assertThat(grant.permits()).containsOnlyKeys("backup", "tenant:a");
        assertThat(grant.isHeld()).isEqualTo(false);
        assertThat(semaphores).semaphore("backup").hasHeld(0);
    }

    @Test
    void guardsNothingThatAcquiresNothing() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> semaphores.guard("text"))
                .withMessageContaining("java.lang.String has no @WithPermits method");
    }

    @Test
    void refusesTheNextAcquireWithoutWaiting() {
        Backups backups = semaphores.guard(new Backups());

        semaphores.refuseNext("backup");

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> backups.backUp("a"))
                .withMessageContaining("'backup' does not have 1 permit(s) available: 1 of 1 held")
                .withMessageContaining("within PT1H");
        assertThat(backups.backUp("a").permits()).containsOnlyKeys("backup", "tenant:a");
    }

    @Test
    void refusesAsManyAcquiresAsItIsTold() {
        semaphores.refuseNext("tenant:a");
        semaphores.refuseNext("tenant:a");
        AcquireRequest request = AcquireRequest.of("tenant:a");

        assertThat(semaphores.tryAcquire(AcquireRequest.of("tenant:b"))).isPresent();
        assertThat(semaphores.tryAcquire(request)).isEmpty();
        assertThat(semaphores.tryAcquire(request)).isEmpty();
        assertThat(semaphores.tryAcquire(request)).isPresent();
    }

    @Test
    void failsTheNextAcquire() {
        AcquireOutcomeUnknownException failure = new AcquireOutcomeUnknownException("job", null);
        semaphores.failNext("backup", failure);

        assertThatExceptionOfType(AcquireOutcomeUnknownException.class)
                .isThrownBy(() -> semaphores.acquire(AcquireRequest.of("backup")))
                .isSameAs(failure);
        semaphores.failNext("backup", failure);
        assertThat(semaphores.acquireAsync(AcquireRequest.of("backup")))
                .failsWithin(SOON)
                .withThrowableThat()
                .withCause(failure);
        assertThat(semaphores).haveNoHolders();
    }

    @Test
    void losesTheNextGrant() {
        Backups backups = semaphores.guard(new Backups());
        semaphores.loseNext("backup");

        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> backups.backUp("a"));

        assertThat(backups.backUp("a").owner()).isNotEmpty();
    }

    @Test
    void losesWhatIsHeld() {
        PermitGrant lost = semaphores.acquire(AcquireRequest.of("backup", "tenant:a"));
        PermitGrant kept = semaphores.acquire(AcquireRequest.of("tenant:a"));

        assertThat(semaphores.lose("backup")).isEqualTo(1);

        assertThat(lost.isHeld()).isEqualTo(false);
        assertThat(lost.release()).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
        assertThat(kept.isHeld()).isEqualTo(true);
        assertThat(semaphores).semaphore("tenant:a").hasHeld(1);
    }

    @Test
    void forgetsWhatNoAcquireHasMet() {
        semaphores.refuseNext("backup");
        semaphores.forgetScripts();

        assertThat(semaphores.tryAcquire(AcquireRequest.of("backup"))).isPresent();
    }

    @Test
    void aCallerWaitsNoLongerThanItsTimeIfNobodyMovesTheClock() {
        semaphores.acquire(AcquireRequest.of("backup"));

        assertThat(semaphores.tryAcquire(AcquireRequest.of("backup").withWaitTime(Duration.ofMillis(50))))
                .isEmpty();
    }

    @Test
    void callersAreWokenByTheClock() {
        PermitGrant expiring = semaphores.acquire(AcquireRequest.of("backup").withTtl(Duration.ofHours(1)));
        CompletableFuture<PermitGrant> waiting =
                semaphores.acquireAsync(AcquireRequest.of("backup").withWaitTime(Duration.ofDays(1)));
        CompletableFuture<PermitGrant> impatient =
                semaphores.acquireAsync(AcquireRequest.of("backup").withWaitTime(Duration.ofMinutes(30)));

        semaphores.clock().advance(Duration.ofMinutes(59));
        assertThat(semaphores).semaphore("backup").hasWaiting(1);
        assertThat(impatient).failsWithin(SOON);
        semaphores.clock().set(expiring.expiresAt().orElseThrow());

        assertThat(waiting).succeedsWithin(SOON).matches(PermitGrant::isHeld);
    }

    @Test
    void waitsAsConfigured() {
        InMemorySemaphores configured = new InMemorySemaphores(
                SemaphoreSettings.defaults()
                        .withPattern("backup*", 1)
                        .with(
                                SemaphoreSettings.WAIT_TIME,
                                PerSemaphore.all(Duration.ZERO).with("backup*", Duration.ofHours(1))),
                MovableClock.running());
        PermitGrant first = configured.acquire(AcquireRequest.of("backup-1").withoutTtl());
        CompletableFuture<PermitGrant> waiting = configured.acquireAsync(AcquireRequest.of("backup-1"));

        configured.clock().advance(Duration.ofMinutes(59));
        assertThat(configured).semaphore("backup-1").hasWaiting(1);
        configured.clock().advance(Duration.ofMinutes(1));

        assertThat(waiting).failsWithin(SOON);
        assertThat(first.isHeld()).isEqualTo(true);
    }

    /** The action does not run under the lock, which the other thread needs. */
    @Test
    void callersOfSeveralSemaphoresStandBehindThoseOfOneWhereACallerHasAShare() {
        PermitGrant holder = semaphores.acquire(AcquireRequest.of("backup"));
        AcquireRequest request = AcquireRequest.of("backup").withWaitTime(Duration.ofHours(1));
        AcquireFuture several = semaphores.acquireAsync(request.withPermits("tenant:a", 1));
        AcquireFuture one = semaphores.acquireAsync(request);
        assertThat(ahead(several)).isEqualTo(0);

        AcquireFuture shared = semaphores.acquireAsync(request.withShare("a"));

        assertThat(List.of(ahead(one), ahead(shared), ahead(several))).containsExactly(0L, 1L, 2L);
        holder.release();
        List.of(one, shared, several).forEach(next -> next.join().release());
    }

    @Test
    void saysWhereCallersWithSharesStand() {
        semaphores.acquire(AcquireRequest.of("backup"));
        AcquireRequest request =
                AcquireRequest.of("backup").withWaitTime(Duration.ofHours(1)).withShare("a");
        AcquireFuture first = semaphores.acquireAsync(request);
        AcquireFuture second = semaphores.acquireAsync(request);

        AcquireFuture third = semaphores.acquireAsync(request.withShare("b"));

        assertThat(List.of(ahead(first), ahead(third), ahead(second))).containsExactly(0L, 1L, 2L);
    }

    @Test
    void aDeletedSemaphoreForgetsTheGrantsOfShares() {
        AcquireRequest request =
                AcquireRequest.of("backup").withWaitTime(Duration.ofHours(1)).withShare("a");
        PermitGrant holder = semaphores.acquire(request);
        AcquireFuture counted = semaphores.acquireAsync(request);
        holder.release();
        counted.join().release();

        semaphores.admin().delete("backup");
        semaphores.with("backup", 1).acquire(request);
        AcquireFuture first = semaphores.acquireAsync(request);
        AcquireFuture second = semaphores.acquireAsync(request.withShare("b"));

        assertThat(List.of(ahead(first), ahead(second))).containsExactly(0L, 1L);
    }

    @Test
    void dependentActionsCanAwaitWhatOtherThreadsAcquire() {
        PermitGrant first = semaphores.acquire(AcquireRequest.of("backup"));
        CompletableFuture<Optional<PermitGrant>> nested = semaphores
                .acquireAsync(AcquireRequest.of("backup").withWaitTime(Duration.ofHours(1)))
                .thenApply(grant -> unchecked(() -> Concurrently.get(
                        Concurrently.async(() -> semaphores.tryAcquire(AcquireRequest.of("tenant:a"))))));

        first.release();

        assertThat(nested).succeedsWithin(SOON).matches(Optional::isPresent);
    }

    /** Repeated, since a thread that is not run for a millisecond adds its action to a complete future. */
    @Test
    void dependentActionsOfAGrantWithoutAWaitRunOnAnotherThreadToo() {
        Awaitility.await()
                .until(
                        () -> semaphores
                                .acquireAsync(AcquireRequest.of("backup"))
                                .thenApply(grant -> {
                                    grant.close();
                                    return Thread.currentThread();
                                })
                                .get(10, TimeUnit.SECONDS),
                        thread -> thread.isDaemon() && thread.getName().equals("semaphores-in-memory"));
    }

    @Test
    void anyNumberOfDependentActionsMayBlock() {
        CountDownLatch end = new CountDownLatch(1);
        List<CompletableFuture<Boolean>> blocked = Stream.generate(() ->
                        semaphores.acquireAsync(AcquireRequest.of("tenant:a").withWaitTime(Duration.ofHours(1))))
                .limit(100)
                .map(future -> future.thenApply(grant -> {
                    grant.close();
                    return unchecked(() -> end.await(20, TimeUnit.SECONDS));
                }))
                .toList();

        Awaitility.await()
                .untilAsserted(() -> assertThat(semaphores)
                        .semaphore("tenant:a")
                        .hasWaiting(0)
                        .hasHeld(0));
        end.countDown();

        blocked.forEach(each -> assertThat(each).succeedsWithin(SOON).isEqualTo(true));
    }

    /** The interrupt comes when the acquire was rejected. Its caller is told after the 500 that came before it. */
    @Test
    void aCallerThatIsInterruptedTooLateGetsTheRejection() throws Exception {
        semaphores.with("backup", 2).acquire(AcquireRequest.of("backup"));
        AcquireRequest both = AcquireRequest.of("backup", 2).withWaitTime(Duration.ofHours(1));
        List<AcquireFuture> before =
                Stream.generate(() -> semaphores.acquireAsync(both)).limit(500).toList();
        CompletableFuture<Thread> waiting = new CompletableFuture<>();
        Future<Throwable> outcome = Concurrently.async(() -> {
            waiting.complete(Thread.currentThread());
            return catchThrowable(() -> semaphores.acquire(both));
        });
        Awaitility.await()
                .untilAsserted(() -> assertThat(semaphores).semaphore("backup").hasWaiting(501));

        Future<?> rejecting = Concurrently.async(() -> semaphores.with("backup", 1));
        while (semaphores.admin().find("backup").orElseThrow().waiting() > 0) {
            Thread.onSpinWait();
        }
        waiting.join().interrupt();

        assertThat(Concurrently.get(outcome)).isInstanceOf(PermitsExceedCapacityException.class);
        Concurrently.get(rejecting);
        before.forEach(each -> assertThat(each).failsWithin(SOON));
    }

    @Test
    void aDeletedSemaphoreDoesNotCountAsOneOfAPattern() {
        InMemorySemaphores limited = new InMemorySemaphores(
                SemaphoreSettings.defaults()
                        .withPattern("tenant:*", 1)
                        .with(SemaphoreSettings.MAX_PATTERN_SEMAPHORES, 1),
                MovableClock.running());
        limited.run("tenant:a", () -> {});
        assertThatExceptionOfType(PatternLimitExceededException.class)
                .isThrownBy(() -> limited.run("tenant:b", () -> {}));

        assertThat(limited.admin().delete("tenant:a")).isEqualTo(true);
        limited.run("tenant:b", () -> {});

        assertThat(limited).semaphore("tenant:b").hasCapacity(1);
    }

    private static <T> T unchecked(Callable<T> action) {
        try {
            return action.call();
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }

    @Test
    void saysWhoHoldsThePermits() {
        semaphores.acquire(AcquireRequest.of("backup").withOwner("nightly"));

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> semaphores.acquire(AcquireRequest.of("backup")))
                .withMessageContaining("longest by nightly since ");
    }

    @Test
    void changesTheCapacity() {
        assertThat(semaphores.with("backup", 3)).semaphore("backup").hasCapacity(3);
        assertThatIllegalArgumentException().isThrownBy(() -> semaphores.with("backup", -1));
        assertThat(semaphores.admin().delete("backup")).isEqualTo(true);
        assertThat(semaphores.admin().find("backup")).isEmpty();
    }

    @Test
    void aPlaceholderNeedsAValue() {
        class Misconfigured {

            @WithPermits(names = "backup", waitTime = "${no.such.property}")
            public void backUp() {}
        }

        assertThatIllegalStateException()
                .isThrownBy(() -> semaphores.guard(new Misconfigured()))
                .withStackTraceContaining("no.such.property");
    }

    private static long ahead(AcquireFuture caller) {
        return caller.positions().get(0).ahead();
    }
}
