package io.dbsemaphore.boot.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.PeakCounter;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.Lock;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Keys without end leave no semaphores behind, and locks in use are not forgotten. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RememberedLocksIntegrationTests extends LockRegistryFixture {

    private final SemaphoreLockRegistry small = registry(node, TTL, 2);

    @Test
    void forgetsTheLockThatWasObtainedFirst() {
        Lock first = use(key + 1);
        use(key + 2);
        assertThat(small.obtain(key + 1)).isSameAs(first);

        use(key + 3);

        assertThat(small.obtain(key + 1)).isSameAs(first);
        assertThat(Stream.of(key + 1, key + 2, key + 3).filter(LockRegistryFixture::exists))
                .containsExactly(key + 1, key + 3);
    }

    @Test
    void remembersLocksInUse() {
        Lock held = small.obtain(key);
        held.lock();
        IntStream.range(0, 5).forEach(i -> use(key + i));

        assertThat(small.obtain(key)).isSameAs(held);
        small.expireUnusedOlderThan(-1);
        assertThat(small.obtain(key)).isSameAs(held);

        held.unlock();
    }

    @Test
    void returnsALockThatTheApplicationHasKept() {
        Lock kept = use(key);
        IntStream.range(0, 5).forEach(i -> use(key + i));
        kept.lock();

        Lock again = small.obtain(key);

        assertThat(again).isSameAs(kept);
        assertThat(again.tryLock()).as("re-entered").isTrue();
        small.renewLock(key);
        again.unlock();
        kept.unlock();
    }

    @Test
    void forgetsUnusedLocksOnRequest() {
        use(key);

        small.expireUnusedOlderThan(Duration.ofHours(1).toMillis());
        assertThat(exists(key)).as("used within an hour").isEqualTo(true);

        small.expireUnusedOlderThan(-1);
        assertThat(exists(key)).isEqualTo(false);
        use(key);
    }

    @Test
    void keepsTheSemaphoresThatOthersNeed() {
        use(key + 1);
        use(key + 2);
        other.obtain(key + 1).lock();
        node.admin().setCapacity(PREFIX + key + 2, 0, "operator", "paused");

        small.expireUnusedOlderThan(-1);

        assertThat(List.of(key + 1, key + 2)).allMatch(LockRegistryFixture::exists);
        other.obtain(key + 1).unlock();
    }

    /** The semaphore may be deleted at any time between the creation of it and the acquire. */
    @Test
    void excludesWhileSemaphoresAreDeleted() {
        SemaphoreLockRegistry[] registries = {small, registry(otherNode, TTL, 2)};
        PeakCounter[] inside = Stream.generate(PeakCounter::new).limit(10).toArray(PeakCounter[]::new);

        Concurrently.run(8, Duration.ofSeconds(60), thread -> {
            for (int round = 0; round < 25; round++) {
                int number = ThreadLocalRandom.current().nextInt(inside.length);
                Lock lock = registries[thread % 2].obtain(key + number);
                lock.lock();
                inside[number].enter();
                inside[number].leave();
                lock.unlock();
            }
        });

        assertThat(inside).extracting(PeakCounter::peak).containsOnly(1);
        assertThat(IntStream.range(0, inside.length).filter(number -> exists(key + number)))
                .as("semaphores that are left, of which each registry remembers two")
                .hasSizeLessThan(inside.length);
        IntStream.range(0, inside.length).forEach(number -> use(key + number));
        assertThat(IntStream.range(0, inside.length).filter(number -> exists(key + number)))
                .as("those that the registry remembers, after using each key once more")
                .containsExactly(inside.length - 2, inside.length - 1);
    }

    /** As after some restarts: an instance that has stopped remembers no lock whose semaphore it could delete. */
    @Test
    void deletesUnusedSemaphoresWhereNoMoreMayBeCreated() {
        Lock held = other.obtain(key);
        held.lock();
        int limit = node.admin().list().size() + 2;
        try (Node limited = Node.on(schema, PATTERNS.with(SemaphoreSettings.MAX_PATTERN_SEMAPHORES, limit))) {
            SemaphoreLockRegistry locks = registry(limited, TTL, 256);
            for (int i = 0; i < 5; i++) {
                use(locks, key + i);
            }
        }

        assertThat(node.admin().list()).hasSizeLessThanOrEqualTo(limit + 1);
        assertThat(holders(key)).hasSize(1);
        held.unlock();
    }

    private Lock use(String of) {
        return use(small, of);
    }

    private static Lock use(SemaphoreLockRegistry registry, String of) {
        Lock lock = registry.obtain(of);
        lock.lock();
        lock.unlock();
        return lock;
    }
}
