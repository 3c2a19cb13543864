package io.dbsemaphore.test;

import static io.dbsemaphore.test.SemaphoreAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dbsemaphore.AcquireOutcomeUnknownException;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.Permits;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What semaphores in memory have beside the contract. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InMemorySemaphoresTests {

    private final InMemorySemaphores semaphores =
            InMemorySemaphores.of("backup", 1).with("tenant:*", 2);

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
                .failsWithin(Duration.ofSeconds(10))
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
        assertThat(waiting.isDone()).isEqualTo(false);
        assertThat(impatient).isCompletedExceptionally();
        semaphores.clock().set(expiring.expiresAt().orElseThrow());

        assertThat(waiting).isCompletedWithValueMatching(PermitGrant::isHeld);
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
        assertThat(waiting.isDone()).isEqualTo(false);
        configured.clock().advance(Duration.ofMinutes(1));

        assertThat(waiting).isCompletedExceptionally();
        assertThat(first.isHeld()).isEqualTo(true);
    }

    /** The action may call anything: it does not run under the lock. */
    @Test
    void dependentActionsCanAcquire() throws Exception {
        PermitGrant first = semaphores.acquire(AcquireRequest.of("backup"));
        CompletableFuture<Optional<PermitGrant>> nested = semaphores
                .acquireAsync(AcquireRequest.of("backup").withWaitTime(Duration.ofHours(1)))
                .thenApplyAsync(grant -> semaphores.tryAcquire(AcquireRequest.of("tenant:a")));

        first.release();

        assertThat(nested.get(10, TimeUnit.SECONDS)).isPresent();
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
}
