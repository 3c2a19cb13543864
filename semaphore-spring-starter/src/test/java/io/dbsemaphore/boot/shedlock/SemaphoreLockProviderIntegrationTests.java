package io.dbsemaphore.boot.shedlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import java.util.concurrent.ThreadLocalRandom;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.test.support.AbstractExtensibleLockProviderIntegrationTest;
import net.javacrumbs.shedlock.test.support.FuzzTester;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The contract tests that ShedLock publishes for its providers.
 *
 * @see <a href="https://github.com/lukas-krecan/ShedLock/tree/master/shedlock-test-support">shedlock-test-support</a>
 */
class SemaphoreLockProviderIntegrationTests extends AbstractExtensibleLockProviderIntegrationTest {

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

    @Test
    void fuzzTestOfTwoInstancesShouldPass() throws Exception {
        LockProvider[] providers = {instances.provider(), instances.otherProvider()};

        new FuzzTester(configuration -> providers[ThreadLocalRandom.current().nextInt(2)].lock(configuration))
                .doFuzzTest();
    }
}
