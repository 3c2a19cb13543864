package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.within;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.RequestAlreadyReleasedException;
import io.dbsemaphore.RequestConflictException;
import io.dbsemaphore.RequestInProgressException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.rerun.Promise;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.data.TemporalUnitOffset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One external id, one grant: however often, from wherever, and in whatever order it is requested. */
@Promise
class IdempotencyIntegrationTests {

    private static final Duration DEADLINE = Duration.ofSeconds(60);
    private static final TemporalUnitOffset CLOCKS = within(20, ChronoUnit.SECONDS);

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    private final SemaphoreTemplate semaphores = cluster.node(0).semaphores();
    private final SemaphoreTemplate elsewhere = cluster.node(1).semaphores();

    @ParameterizedTest
    @ValueSource(ints = {1, 100})
    void fiftyAcquiresAtOnceWithOneIdAreOneGrantAndItsReplays(int capacity) {
        String name = cluster.semaphore(capacity);
        String other = cluster.semaphore(capacity);
        AcquireRequest request = AcquireRequest.of(name, other).withExternalId(cluster.externalId());

        List<PermitGrant> grants = Concurrently.call(
                50, DEADLINE, thread -> cluster.node(thread).semaphores().acquire(request));

        assertThat(grants).extracting(PermitGrant::isReplayed).containsOnlyOnce(false);
        assertThat(grants).extracting(PermitGrant::externalId).containsOnly(externalId(request));
        assertThat(grants)
                .extracting(grant -> grant.fencingToken(name))
                .containsOnly(grants.get(0).fencingToken(name));
        assertThat(grants)
                .extracting(grant -> grant.fencingToken(other))
                .containsOnly(grants.get(0).fencingToken(other));
        assertThat(cluster.held(name)).isEqualTo(1);
        assertThat(cluster.held(other)).isEqualTo(1);
    }

    @Test
    void aReplayReleasesThePermitOfASemaphoreThatAnOperatorDeletedToo() {
        String deleted = cluster.semaphore(1);
        AcquireRequest request =
                AcquireRequest.of(cluster.semaphore(1), deleted).withExternalId(cluster.externalId());
        semaphores.acquire(request);
        cluster.schema().jdbc().update("delete from semaphore where name = ?", deleted);

        assertThat(elsewhere.acquire(request).release()).isEqualTo(ReleaseOutcome.RELEASED);

        assertThat(cluster.schema()
                        .jdbc()
                        .queryForList(
                                "select p.state from permit p join permit_request r on r.id = p.permit_request_id"
                                        + " where r.external_id = ?",
                                String.class,
                                externalId(request)))
                .containsExactly("RELEASED", "RELEASED");
    }

    @Test
    void oneIdOnSeveralSemaphoresAtOnceIsOneGrantAndConflicts() {
        List<String> names = cluster.semaphores(8, 1);
        String externalId = cluster.externalId();

        List<Optional<Throwable>> failures = Concurrently.call(names.size(), DEADLINE, thread -> {
            AcquireRequest request = AcquireRequest.of(names.get(thread)).withExternalId(externalId);
            return Optional.ofNullable(
                    catchThrowable(() -> cluster.node(thread).semaphores().acquire(request)));
        });

        assertThat(failures).containsOnlyOnce(Optional.empty());
        assertThat(failures.stream().flatMap(Optional::stream))
                .hasSize(7)
                .hasOnlyElementsOfType(RequestConflictException.class);
        assertThat(names.stream().mapToLong(cluster::held).sum()).isEqualTo(1);
    }

    @Test
    void replaysTheSameGrantElsewhere() {
        String name = cluster.semaphore(5);
        AcquireRequest request =
                AcquireRequest.of(name).withPermits(name, 2).withOwner("job-7").withExternalId(cluster.externalId());

        PermitGrant first = semaphores.acquire(request);
        PermitGrant again = elsewhere.acquire(request.withOwner("job-7, restarted"));

        assertThat(first.isReplayed()).isFalse();
        assertThat(again.isReplayed()).isTrue();
        assertThat(again.permits()).isEqualTo(Map.of(name, 2));
        assertThat(again.fencingToken()).isEqualTo(first.fencingToken());
        assertThat(again.acquiredAt()).isEqualTo(first.acquiredAt());
        assertThat(again.owner()).isEqualTo("job-7");
        assertThat(cluster.held(name)).isEqualTo(2);
        assertThat(again.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(cluster.held(name)).isZero();
    }

    @Test
    void replaysTheSameContentInAnotherOrderOfNames() {
        String one = cluster.semaphore(1);
        String two = cluster.semaphore(1);
        String externalId = cluster.externalId();

        PermitGrant first = semaphores.acquire(AcquireRequest.of(one, two).withExternalId(externalId));
        PermitGrant again = elsewhere.acquire(AcquireRequest.of(two, one).withExternalId(externalId));

        assertThat(again.fencingToken(one)).isEqualTo(first.fencingToken(one));
        assertThat(again.fencingToken(two)).isEqualTo(first.fencingToken(two));
    }

    @Test
    void replaysWithoutAvailablePermits() {
        String name = cluster.semaphore(1);
        AcquireRequest request = AcquireRequest.of(name).withExternalId(cluster.externalId());
        semaphores.acquire(request);

        assertThat(elsewhere.tryAcquire(AcquireRequest.of(name))).isEmpty();
        assertThat(elsewhere.tryAcquire(request))
                .get()
                .extracting(PermitGrant::isReplayed)
                .isEqualTo(true);
    }

    @Test
    void beginsTheTimeToLiveAnewWhenItReplays() {
        AcquireRequest request = AcquireRequest.of(cluster.semaphore(1)).withExternalId(cluster.externalId());

        PermitGrant first = semaphores.acquire(request.withTtl(Duration.ofMinutes(1)));
        assertThat(first.expiresAt().orElseThrow()).isEqualTo(first.acquiredAt().plus(Duration.ofMinutes(1)));
        PermitGrant longer = elsewhere.acquire(request.withTtl(Duration.ofHours(2)));
        assertThat(longer.expiresAt().orElseThrow())
                .isAfterOrEqualTo(first.acquiredAt().plus(Duration.ofHours(2)))
                .isCloseTo(first.acquiredAt().plus(Duration.ofHours(2)), CLOCKS);
        PermitGrant shorter = elsewhere.acquire(request.withTtl(Duration.ofMinutes(1)));
        assertThat(shorter.expiresAt()).as("no earlier").isEqualTo(longer.expiresAt());
        assertThat(elsewhere.acquire(request.withoutTtl()).expiresAt()).isEmpty();
        assertThat(elsewhere.acquire(request.withTtl(Duration.ofMinutes(1))).expiresAt())
                .isEmpty();
        assertThat(semaphores.find(first.externalId()).orElseThrow().expiresAt())
                .isEmpty();
    }

    @Test
    void aHandleThatWasFoundElsewhereKnowsThatItWasRenewed() {
        PermitGrant held =
                semaphores.acquire(AcquireRequest.of(cluster.semaphore(1)).withTtl(Duration.ofMinutes(1)));
        PermitGrant found = elsewhere.find(held.externalId()).orElseThrow();

        PermitGrant renewed = found.renew(Duration.ofHours(2));

        assertThat(renewed.expiresAt().orElseThrow())
                .isCloseTo(held.acquiredAt().plus(Duration.ofHours(2)), CLOCKS);
        held.release();
    }

    @Test
    void aHandleThatWasFoundElsewhereKnowsThatItCouldNotBeRenewed() {
        String name = cluster.semaphore(1);
        PermitGrant held = semaphores.acquire(AcquireRequest.of(name));
        PermitGrant found = elsewhere.find(held.externalId()).orElseThrow();
        held.release();

        assertThatExceptionOfType(PermitLostException.class)
                .isThrownBy(() -> found.renew(Duration.ofMinutes(1)))
                .withMessageContaining(name);

        assertThat(found.isHeld()).isFalse();
    }

    @Test
    void aLossThatOneHandleFindsEndsTheOthersOfItsRequest() {
        AcquireRequest request = AcquireRequest.of(cluster.semaphore(1)).withExternalId(cluster.externalId());
        PermitGrant held = semaphores.acquire(request);
        PermitGrant found = elsewhere.find(held.externalId()).orElseThrow();
        PermitGrant repeated = elsewhere.acquire(request);
        held.release();

        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> found.renew(Duration.ofMinutes(1)));

        assertThat(repeated.isHeld()).isFalse();
    }

    @Test
    void neverGrantsAReleasedRequestAnew() {
        String name = cluster.semaphore(1);
        AcquireRequest request = AcquireRequest.of(name).withExternalId(cluster.externalId());
        semaphores.acquire(request).release();
        Map<String, List<Map<String, Object>>> before = cluster.rows();

        for (SemaphoreTemplate template : List.of(semaphores, elsewhere)) {
            assertThatExceptionOfType(RequestAlreadyReleasedException.class)
                    .isThrownBy(() -> template.acquire(request))
                    .withMessageContainingAll(externalId(request), "semaphore.maintenance.request-retention")
                    .satisfies(e -> assertThat(e.externalId()).isEqualTo(externalId(request)));
            assertThatExceptionOfType(RequestAlreadyReleasedException.class)
                    .isThrownBy(() -> template.executeWithoutResult(request.withAdopt(true), grant -> {}));
        }
        assertThat(cluster.rows()).isEqualTo(before);
    }

    @Test
    void refusesAnotherContentUnderAnIdAndChangesNothing() {
        String name = cluster.semaphore(5);
        String other = cluster.semaphore(5);
        AcquireRequest request = AcquireRequest.of(name).withExternalId(cluster.externalId());
        semaphores.acquire(request);
        Map<String, List<Map<String, Object>>> before = cluster.rows();

        assertThat(List.of(
                        request.withPermits(name, 2),
                        request.withPermits(other, 1),
                        request.exclusive(),
                        AcquireRequest.of(other).withExternalId(externalId(request))))
                .allSatisfy(different -> assertThatExceptionOfType(RequestConflictException.class)
                        .isThrownBy(() -> elsewhere.acquire(different.withTtl(Duration.ofHours(1))))
                        .withMessageContaining(externalId(request))
                        .satisfies(e -> assertThat(e.externalId()).isEqualTo(externalId(request))));

        assertThat(cluster.rows()).isEqualTo(before);
    }

    @Test
    void doesNotRunTheWorkOfARequestThatIsHeld() {
        AcquireRequest request = AcquireRequest.of(cluster.semaphore(5)).withExternalId(cluster.externalId());
        PermitGrant held = semaphores.acquire(request.withOwner("night-run"));
        Map<String, List<Map<String, Object>>> before = cluster.rows();
        AtomicInteger runs = new AtomicInteger();

        for (SemaphoreTemplate template : List.of(semaphores, elsewhere)) {
            assertThatExceptionOfType(RequestInProgressException.class)
                    .isThrownBy(() -> template.executeWithoutResult(request, grant -> runs.incrementAndGet()))
                    .withMessageContainingAll(externalId(request), "night-run")
                    .satisfies(e -> assertThat(e.owner()).isEqualTo("night-run"));
        }

        assertThat(runs).hasValue(0);
        assertThat(cluster.rows()).isEqualTo(before);
        assertThat(held.isHeld()).isEqualTo(true);
    }

    @Test
    void runsTheWorkOfARequestThatItAdopts() {
        String name = cluster.semaphore(1);
        AcquireRequest request = AcquireRequest.of(name).withExternalId(cluster.externalId());
        PermitGrant held = semaphores.acquire(request);

        long token = elsewhere.execute(request.withAdopt(true), PermitGrant::fencingToken);

        assertThat(token).isEqualTo(held.fencingToken());
        assertThat(cluster.held(name)).isZero();
        assertThat(held.release()).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
    }

    @Test
    void aConstantRequestWithoutAnIdIsAGrantForEachAcquire() {
        String name = cluster.semaphore(10);
        AcquireRequest constant = AcquireRequest.of(name);

        List<PermitGrant> grants = Concurrently.call(
                10, DEADLINE, thread -> cluster.node(thread).semaphores().acquire(constant));

        assertThat(grants).extracting(PermitGrant::externalId).doesNotHaveDuplicates();
        assertThat(grants).extracting(PermitGrant::fencingToken).doesNotHaveDuplicates();
        assertThat(grants).extracting(PermitGrant::isReplayed).containsOnly(false);
        assertThat(cluster.held(name)).isEqualTo(10);
    }

    private static String externalId(AcquireRequest request) {
        return request.externalId().orElseThrow();
    }
}
