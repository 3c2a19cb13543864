package io.dbsemaphore.boot.integration;

import static io.dbsemaphore.testing.Concurrently.async;
import static io.dbsemaphore.testing.Concurrently.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dbsemaphore.admin.PermitHolder;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.integration.support.locks.DistributedLock;

/** A lock of Spring Integration whose time to live has passed, and what renews it. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LockExpiryIntegrationTests extends LockRegistryFixture {

    @Test
    void anExpiredLockGoesToAnotherInstanceAndItsFormerHolderIsTold() throws Exception {
        DistributedLock lock = registry.obtain(key);
        lock.lock(SHORT);

        assertThat(other.obtain(key).tryLock(10, TimeUnit.SECONDS)).isEqualTo(true);

        List<PermitHolder> taken = holders(key);
        assertThatExceptionOfType(ConcurrentModificationException.class)
                .isThrownBy(lock::unlock)
                .withMessageContaining(key);
        assertThat(holders(key)).isEqualTo(taken);
        other.obtain(key).unlock();
        assertThat(lock.tryLock()).isEqualTo(true);
        lock.unlock();
    }

    @Test
    void anExpiredLockThatTheMaintenanceReleasedIsReported() throws Exception {
        DistributedLock lock = registry.obtain(key);
        assertThat(lock.tryLock(Duration.ZERO, SHORT)).isEqualTo(true);
        awaitExpiry(key);
        assertThat(otherNode.maintenance().releaseOrphans()).isPositive();

        assertThatExceptionOfType(ConcurrentModificationException.class).isThrownBy(lock::unlock);
    }

    @Test
    void anExpiredLockThatNobodyTookIsUnlocked() {
        DistributedLock lock = registry.obtain(key);
        lock.lock(SHORT);
        awaitExpiry(key);

        lock.unlock();

        assertThat(holders(key)).isEmpty();
    }

    @Test
    void anExpiredLockThatNobodyTookIsEnteredAgain() {
        DistributedLock lock = registry.obtain(key);
        lock.lock(SHORT);
        long token = holders(key).get(0).fencingToken();
        awaitExpiry(key);

        assertThat(lock.tryLock()).isEqualTo(true);

        assertThat(holders(key)).extracting(PermitHolder::fencingToken).containsExactly(token);
        assertThat(other.obtain(key).tryLock()).isEqualTo(false);
        lock.unlock();
        lock.unlock();
        assertThat(holders(key)).isEmpty();
    }

    @Test
    void anExpiredLockThatAnotherInstanceHadIsEnteredAgainAndReported() throws Exception {
        DistributedLock lock = registry.obtain(key);
        lock.lock(SHORT);
        assertThat(other.obtain(key).tryLock(10, TimeUnit.SECONDS)).isEqualTo(true);

        assertThat(lock.tryLock()).as("while another instance has it").isEqualTo(false);
        other.obtain(key).unlock();
        assertThat(lock.tryLock()).isEqualTo(true);
        lock.unlock();

        assertThat(holders(key)).hasSize(1);
        assertThatExceptionOfType(ConcurrentModificationException.class).isThrownBy(lock::unlock);
        assertThat(holders(key)).isEmpty();
        lock.lock();
        lock.unlock();
    }

    /** The request of the expired permit is deleted after its retention, so that its external id says nothing any more. */
    @Test
    void anExpiredLockThatIsEnteredAgainAfterItsRequestWasDeletedIsReported() {
        DistributedLock lock = registry.obtain(key);
        lock.lock(SHORT);
        String externalId = holders(key).get(0).externalId();
        awaitExpiry(key);
        other.obtain(key).lock();
        other.obtain(key).unlock();
        schema.jdbc().update("""
                delete from permit where permit_request_id in (select id from permit_request where external_id = ?)""", externalId);
        schema.jdbc().update("delete from permit_request where external_id = ?", externalId);

        assertThat(lock.tryLock()).isEqualTo(true);
        lock.unlock();

        assertThatExceptionOfType(ConcurrentModificationException.class).isThrownBy(lock::unlock);
    }

    @Test
    void enteringAgainRenewsAndNeverShortens() {
        DistributedLock lock = registry.obtain(key);
        lock.lock(Duration.ofMinutes(10));
        lock.lock(SHORT);
        assertThat(left()).isGreaterThan(Duration.ofMinutes(9));

        lock.lock(Duration.ofMinutes(20));

        assertThat(left()).isGreaterThan(Duration.ofMinutes(19));
        lock.unlock();
        lock.unlock();
        lock.unlock();
    }

    @Test
    void aLockIsRenewed() {
        DistributedLock lock = registry.obtain(key);
        lock.lock(Duration.ofMinutes(10));

        registry.renewLock(key);
        assertThat(left()).isBetween(TTL.minusSeconds(15), TTL);
        registry.renewLock(key, Duration.ofHours(1));

        assertThat(left()).isBetween(Duration.ofMinutes(59), Duration.ofHours(1));
        lock.unlock();
    }

    @Test
    void onlyItsHolderRenewsALock() throws Exception {
        assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(() -> registry.renewLock(key));
        DistributedLock lock = registry.obtain(key);
        lock.lock(SHORT);
        get(async(() -> {
            assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(() -> registry.renewLock(key));
            return null;
        }));

        awaitExpiry(key);

        assertThatIllegalStateException()
                .isThrownBy(() -> registry.renewLock(key, TTL))
                .withMessageContaining(key);
        lock.unlock();
    }

    private Duration left() {
        return Duration.between(
                node.admin().now(), holders(key).get(0).expiresAt().orElseThrow());
    }
}
