package io.dbsemaphore.boot.shedlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.test.support.AbstractExtensibleLockProviderIntegrationTest;
import net.javacrumbs.shedlock.test.support.FuzzTester;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The contract tests that ShedLock publishes for its providers.
 *
 * @see <a href="https://github.com/lukas-krecan/ShedLock/tree/master/shedlock-test-support">shedlock-test-support</a>
 */
class SemaphoreLockProviderIntegrationTests extends AbstractExtensibleLockProviderIntegrationTest {

    private static final Duration WHILE = Duration.ofSeconds(8);

    private static LockProviderFixture instances;

    @BeforeAll
    static void start() {
        instances = new LockProviderFixture();
    }

    @AfterAll
    static void close() {
        instances.close();
    }

    @Override
    protected ExtensibleLockProvider getLockProvider() {
        return instances.provider();
    }

    @Override
    protected void assertUnlocked(String lockName) {
        assertThat(instances.holders(lockName)).isEmpty();
    }

    @Override
    protected void assertLocked(String lockName) {
        assertThat(instances.holders(lockName)).hasSize(1);
    }

    /** With the shortest time that a permit has to live. */
    @Override
    @Test
    public void shouldTimeout() throws InterruptedException {
        doTestTimeout(AcquireRequest.MIN_TTL);
    }

    /** As inherited, with a longer minimum lock time, which does not pass during a stall. */
    @Override
    @Test
    public void shouldLockAtLeastFor() {
        lock(Duration.ofMinutes(5), WHILE).unlock();
        assertThat(getLockProvider().lock(lockConfig(LOCK_NAME1))).isEmpty();

        Awaitility.await("the end of its time")
                .atMost(Duration.ofMinutes(1))
                .until(() -> getLockProvider().lock(lockConfig(LOCK_NAME1)), Optional::isPresent)
                .orElseThrow()
                .unlock();
    }

    /** As inherited, with a longer first time. */
    @Override
    @Test
    public void shouldBeAbleToExtendLock() {
        assertExtends(1);
    }

    /** As inherited, with a longer first time. */
    @Override
    @Test
    public void shouldBeAbleToExtendMultipleTimes() {
        assertExtends(3);
    }

    private void assertExtends(int times) {
        SimpleLock lock = lock(WHILE, Duration.ZERO);
        for (int i = 0; i < times; i++) {
            lock = lock.extend(Duration.ofSeconds(20), Duration.ZERO).orElseThrow();
        }
        sleepFor(WHILE);
        assertLocked(LOCK_NAME1);
        lock.unlock();
        assertUnlocked(LOCK_NAME1);
    }

    private SimpleLock lock(Duration atMost, Duration atLeast) {
        SimpleLock lock =
                getLockProvider().lock(lockConfig(LOCK_NAME1, atMost, atLeast)).orElseThrow();
        assertLocked(LOCK_NAME1);
        return lock;
    }

    @Test
    void fuzzTestOfTwoInstancesShouldPass() throws Exception {
        LockProvider[] providers = {instances.provider(), instances.otherProvider()};

        new FuzzTester(configuration -> providers[ThreadLocalRandom.current().nextInt(2)].lock(configuration))
                .doFuzzTest();
    }
}
