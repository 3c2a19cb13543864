package io.dbsemaphore.engine.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.domain.ReuseTerms;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import io.dbsemaphore.engine.hold.GrantHandle;
import io.dbsemaphore.engine.hold.GrantRegistry;
import io.dbsemaphore.engine.hold.HeldGrant;
import io.dbsemaphore.engine.quota.Quota.Chunk;
import io.dbsemaphore.testing.Concurrently;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** When a chunk may be used, and when it goes back; by a clock that the test sets, where it can. */
class QuotaTests {

    private static final Duration R = Duration.ofSeconds(100);
    private static final long NANOS = R.toNanos();
    private static final Duration MAX_HOLD = R.multipliedBy(10);
    private static final ReuseTerms TERMS = new ReuseTerms("s", 1, false, true, Duration.ofHours(1), MAX_HOLD);

    private static final GrantHandle.Operations NONE = new GrantHandle.Operations() {

        @Override
        public void renew(GrantHandle handle, Duration ttl) {
            throw new UnsupportedOperationException();
        }

        @Override
        public ReleaseOutcome release(GrantHandle handle) {
            throw new UnsupportedOperationException();
        }
    };

    /** Of a quota one of whose chunks may stay longer: for a hundred times this. */
    private static final Duration BRIEF = Duration.ofMillis(250);

    private static final long SHORT = 8 * BRIEF.toNanos();
    private static final long LONG = 100 * BRIEF.toNanos();

    private final GrantRegistry held = new GrantRegistry();
    private final Quota quota = new Quota(R, true);
    private final Quota brief = new Quota(BRIEF, true);
    private final long now = System.nanoTime();
    private long requests;

    @Test
    void aUseBeginsOnlyWithinTheReuseTimeAfterTheLastConfirmation() {
        Chunk chunk = chunk();
        assertThat(quota.isReusable(chunk, now + NANOS - 1)).isTrue();
        assertThat(quota.isReusable(chunk, now + NANOS)).isFalse();

        chunk.confirm(now + NANOS / 2);

        assertThat(quota.isReusable(chunk, now + NANOS)).isTrue();
        assertThat(quota.isReusable(chunk, now + NANOS / 2 + NANOS)).isFalse();
    }

    /** By this number others find out whether a late call is for the current use. */
    @Test
    void otherThreadsNeverSeeAUseWithTheNumberOfAnEarlierOne() throws Exception {
        Chunk chunk = chunk();
        new ReusedGrant(chunk, NONE).end();
        AtomicBoolean stop = new AtomicBoolean();
        Future<Boolean> uses = Concurrently.async(() -> {
            while (!stop.get()) {
                new ReusedGrant(chunk, NONE).end();
            }
            return true;
        });

        long wrong = IntStream.range(0, 2_000_000)
                .mapToObj(i -> Optional.ofNullable(chunk.user()))
                .flatMap(Optional::stream)
                .filter(use -> use.externalId().endsWith("#0"))
                .count();

        stop.set(true);
        Concurrently.get(uses);
        assertThat(wrong).isZero();
    }

    @Test
    void noConfirmationProlongsItsLife() {
        Chunk chunk = chunk();
        chunk.confirm(now + MAX_HOLD.toNanos() - 1);

        assertThat(quota.isReusable(chunk, now + MAX_HOLD.toNanos() - 1)).isTrue();
        assertThat(quota.isReusable(chunk, now + MAX_HOLD.toNanos())).isFalse();
        assertThat(chunk.isConfirmable(now + MAX_HOLD.toNanos())).isFalse();
    }

    @Test
    void whatIsNotUsedForLongGoesBackAndIsNotConfirmed() {
        Chunk chunk = chunk();
        chunk.confirm(now + 8 * NANOS);

        assertThat(quota.isDue(chunk, now + 8 * NANOS - 1)).isFalse();
        assertThat(quota.isConfirmable(chunk, now + 8 * NANOS - 1)).isTrue();
        assertThat(quota.isDue(chunk, now + 8 * NANOS)).isTrue();
        assertThat(quota.isConfirmable(chunk, now + 8 * NANOS)).isFalse();
    }

    @Test
    void oneChunkOfASemaphoreMayStayLonger() {
        Chunk first = idle();
        Chunk second = idle();
        assertStays(first, SHORT);

        brief.keepLonger(now);

        assertStays(first, LONG);
        assertStays(second, SHORT);
    }

    @Test
    void whenItHasGoneBackAnotherMayStayLonger() {
        Chunk first = idle();
        Chunk second = idle();
        brief.keepLonger(now);
        brief.gone(first);

        brief.pollAll(second::equals);
        brief.offer(second, now);

        assertStays(second, LONG);
    }

    @Test
    void staysForAHundredTimesTheReuseTimeAtMostForThirtySecondsOrEightTimesTheReuseTime() {
        assertThat(List.of(10, 250, 2_000, 3_750, 5_000))
                .extracting(this::keptLonger)
                .containsExactly(1L, 25L, 30L, 30L, 40L);
    }

    /** For how many seconds a chunk stays if it may stay longer. */
    private long keptLonger(int reuseMillis) {
        Quota any = new Quota(Duration.ofMillis(reuseMillis), true);
        Chunk chunk = new Chunk(any, state(), TERMS, 10, now);
        any.offer(chunk, now);
        any.keepLonger(System.nanoTime());
        return LongStream.range(0, 1_000)
                .filter(second -> !any.isConfirmable(
                        chunk, now + Duration.ofSeconds(second).toNanos()))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void afterARefusalElsewhereNoChunkStaysLongerForThatTime() {
        Chunk chunk = idle();
        brief.keepLonger(now);

        brief.refusedElsewhere(now);

        assertStaysAgainAfterThatTime(chunk, now);
    }

    /** The refusal makes no permit go back that was used just now. */
    @Test
    void afterARefusalElsewhereThatIsIgnoredNoChunkStaysLongerForThatTime() {
        Chunk chunk = idle();
        brief.refusedElsewhere(now - BRIEF.toNanos());
        brief.keepLonger(now + LONG);

        brief.refusedElsewhere(now + 1);

        assertStaysAgainAfterThatTime(chunk, now + 1);
    }

    @Test
    void afterCallersHaveWaitedElsewhereOrTheCapacityWasExceededNoChunkStaysLonger() {
        Chunk chunk = idle();
        brief.keepLonger(now);
        brief.observe(true, false);
        brief.observe(false, false);
        assertStays(chunk, SHORT);

        brief.keepLonger(now + 2 * LONG);
        assertStays(chunk, LONG);
        brief.observe(false, true);
        brief.observe(false, false);
        assertStays(chunk, SHORT);
    }

    @Test
    void itIsWantedAgainWhenAllChunksHaveGoneBack() {
        assertThat(brief.isWantedAgain()).isFalse();
        Chunk first = idle();
        Chunk second = idle();
        brief.gone(first);
        assertThat(brief.isWantedAgain()).isFalse();
        brief.gone(second);
        assertThat(brief.isWantedAgain()).isTrue();
    }

    private void assertStaysAgainAfterThatTime(Chunk chunk, long wantedAt) {
        assertStays(chunk, SHORT);
        brief.keepLonger(wantedAt + LONG - 1);
        assertStays(chunk, SHORT);
        brief.keepLonger(wantedAt + LONG);
        assertStays(chunk, LONG);
    }

    private Chunk idle() {
        Chunk chunk = new Chunk(brief, state(), TERMS, 10, now);
        assertThat(brief.offer(chunk, now)).isTrue();
        return chunk;
    }

    private void assertStays(Chunk chunk, long time) {
        chunk.confirm(now + time);
        assertThat(brief.isDue(chunk, now + time - 1)).isFalse();
        assertThat(brief.isConfirmable(chunk, now + time - 1)).isTrue();
        assertThat(brief.isDue(chunk, now + time)).isTrue();
        assertThat(brief.isConfirmable(chunk, now + time)).isFalse();
    }

    @Test
    void whatWasNotConfirmedWithinTheReuseTimeGoesBack() {
        Chunk chunk = chunk();

        assertThat(quota.isDue(chunk, now + NANOS - 1)).isFalse();
        assertThat(quota.isDue(chunk, now + NANOS)).isTrue();
    }

    @Test
    void theDatabaseIsAskedInTimeAndOnlyThen() {
        Chunk chunk = chunk();

        assertThat(quota.isToBeConfirmed(chunk, now + NANOS / 4)).isFalse();
        assertThat(quota.isToBeConfirmed(chunk, now + NANOS / 2)).isTrue();
    }

    @Test
    void nothingIsKeptWhileCallersWaitElsewhereOrTheCapacityIsExceeded() {
        Chunk chunk = chunk();
        assertThat(quota.offer(chunk, now)).isTrue();
        quota.observe(true, false);
        assertKept(chunk, false);
        quota.observe(false, true);
        assertKept(chunk, false);
        assertThat(quota.isReusable(chunk, now)).isFalse();
        quota.observe(false, false);
        assertKept(chunk, true);
    }

    private void assertKept(Chunk chunk, boolean kept) {
        assertThat(quota.isDue(chunk, now)).isEqualTo(!kept);
        assertThat(quota.offer(chunk(), now)).isEqualTo(kept);
        assertThat(quota.poll(TERMS, now) != null).isEqualTo(kept);
    }

    /** Otherwise instances that want more than there is would end each other's reuse. */
    @Test
    void afterARefusalElsewhereNothingIsKeptForTheReuseTimeAndThenItIsForAsLong() {
        long later = now + 2 * NANOS;
        quota.refusedElsewhere(later);
        assertThat(quota.offer(chunk(), later + NANOS - 1)).isFalse();
        quota.refusedElsewhere(later + NANOS - 1);
        assertThat(quota.offer(chunk(), later + NANOS)).isTrue();
        quota.refusedElsewhere(later + 2 * NANOS - 1);
        assertThat(quota.offer(chunk(), later + 2 * NANOS - 1)).isTrue();
        quota.refusedElsewhere(later + 2 * NANOS);
        assertThat(quota.offer(chunk(), later + 2 * NANOS)).isFalse();
    }

    @Test
    void aRefusalIsToldAtMostTenTimesASecond() {
        Quota brief = new Quota(Duration.ofMillis(10), true);
        long later = now + Duration.ofSeconds(1).toNanos();

        assertThat(LongStream.iterate(later, at -> at + 1_000_000)
                        .limit(1_000)
                        .mapToObj(at -> {
                            brief.refusedHere();
                            return brief.mark(at);
                        })
                        .filter(Objects::nonNull))
                .hasSize(10)
                .containsOnly(Duration.ofMillis(100));
    }

    @Test
    void anyNumberOfChunksIsKept() {
        for (int i = 0; i < 500; i++) {
            assertThat(quota.offer(chunk(), now)).isTrue();
        }
        for (int i = 0; i < 250; i++) {
            assertThat(quota.poll(TERMS, now)).isNotNull();
        }
        assertThat(quota.pollAll(chunk -> true)).hasSize(250).doesNotHaveDuplicates();
        assertThat(quota.poll(TERMS, now)).isNull();
    }

    /** Nobody tells who waits elsewhere, so that a busy instance would keep it for ever. */
    @Test
    void withoutFairnessAChunkGoesBackAfterTheReuseTime() {
        Quota unfair = new Quota(R, false);
        Chunk chunk = new Chunk(unfair, state(), TERMS, 10, now);

        assertThat(unfair.isConfirmable(chunk, now + 1)).isFalse();
        assertThat(unfair.isDue(chunk, now + NANOS - 1)).isFalse();
        assertThat(unfair.isDue(chunk, now + NANOS)).isTrue();
    }

    private Chunk chunk() {
        return new Chunk(quota, state(), TERMS, 10, now);
    }

    private HeldGrant state() {
        requests++;
        Instant instant = Instant.now();
        return held.register(
                new StoredGrant(
                        requests,
                        "request-" + requests,
                        "owner",
                        null,
                        List.of(new StoredPermit(requests, 1, "s", 1, requests)),
                        Duration.ofHours(1),
                        instant,
                        instant.plus(Duration.ofHours(1)),
                        instant),
                now);
    }
}
