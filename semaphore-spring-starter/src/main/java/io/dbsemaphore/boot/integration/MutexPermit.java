package io.dbsemaphore.boot.integration;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.RequestAlreadyReleasedException;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.admin.PatternLimitExceededException;
import io.dbsemaphore.boot.mutex.MutexRequests;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import org.jspecify.annotations.Nullable;

/** The permit of a lock while a thread of this instance has the lock. Used by one thread at a time. */
final class MutexPermit {

    /** Where no more semaphores may be created, and other instances create those that were deleted. */
    private static final int ATTEMPTS = 3;

    private final SemaphoreOperations semaphores;
    private final UnusedSemaphores unusedSemaphores;
    private final MutexRequests requests;
    private final String key;

    private @Nullable PermitGrant grant;
    private boolean lost;
    private long expiry;
    /** The longest time to live since the first {@link #enter}, which the keep-alive renews with. */
    private Duration longestTtl = Duration.ZERO;

    MutexPermit(SemaphoreOperations semaphores, UnusedSemaphores unusedSemaphores, MutexRequests requests, String key) {
        this.semaphores = semaphores;
        this.unusedSemaphores = unusedSemaphores;
        this.requests = requests;
        this.key = key;
    }

    /**
     * Acquires the permit, or renews it if the thread has it: it lasts at least for the time to live from now on, and not
     * shorter than before. One that has expired is restored if nobody else has had it since; otherwise it is acquired anew,
     * which {@link #exit} reports.
     *
     * @return false if it did not become available within the wait time
     */
    boolean enter(Duration waitTime, Duration ttl) {
        PermitGrant entered = grant;
        if (entered != null && (renew(longer(ttl)) || restore(entered, ttl))) {
            return true;
        }
        return acquire(requests.of(key, ttl).withWaitTime(waitTime), ttl);
    }

    /**
     * Sets the expiry to the time to live from now on.
     *
     * @return false if the permit has expired or is lost
     */
    boolean renew(Duration ttl) {
        if (grant == null) {
            return false;
        }
        long now = System.nanoTime();
        try {
            grant.renew(MutexRequests.atLeastMinimum(ttl));
            held(ttl, now);
            return true;
        } catch (PermitLostException alreadyLost) {
            return false;
        }
    }

    /** @throws ConcurrentModificationException if the permit was taken at any time since the first {@link #enter} */
    void exit() {
        PermitGrant released = grant;
        boolean wasLost = lost || released == null;
        grant = null;
        lost = false;
        longestTtl = Duration.ZERO;
        if (released != null) {
            ReleaseOutcome outcome = released.release();
            wasLost |= outcome == ReleaseOutcome.ALREADY_RELEASED || outcome == ReleaseOutcome.NOT_FOUND;
        }
        if (wasLost) {
            throw new ConcurrentModificationException(
                    "Lock '" + key + "' expired, or an operator released it, before its"
                            + " holder did. Another instance may have had it meanwhile: the integrity of what it protects may be"
                            + " compromised. Work that takes longer than the time to live has to renew the lock");
        }
    }

    /**
     * By its external id, which identifies the request for as long as nobody has taken the permit. Another fencing token means that
     * somebody did, and that the request has been deleted since.
     */
    private boolean restore(PermitGrant expired, Duration ttl) {
        try {
            boolean acquired = acquire(requests.of(key, ttl).withExternalId(expired.externalId()), ttl);
            lost |= grant == null || grant.fencingToken() != expired.fencingToken();
            return acquired;
        } catch (RequestAlreadyReleasedException taken) {
            grant = null;
            lost = true;
            return false;
        }
    }

    private boolean acquire(AcquireRequest request, Duration ttl) {
        for (int attempt = 1; ; attempt++) {
            long now = System.nanoTime();
            try {
                grant = semaphores.tryAcquire(request).orElse(null);
                if (grant != null) {
                    held(ttl, now);
                }
                return grant != null;
            } catch (PatternLimitExceededException full) {
                if (attempt == ATTEMPTS) {
                    throw full;
                }
                unusedSemaphores.deleteSome();
            }
        }
    }

    private void held(Duration ttl, long since) {
        expiry = since + ttl.toNanos();
        longestTtl = ttl.compareTo(longestTtl) > 0 ? ttl : longestTtl;
    }

    private Duration longer(Duration ttl) {
        Duration left = requests.isKeptAlive() ? longestTtl : Duration.ofNanos(expiry - System.nanoTime());
        return left.compareTo(ttl) > 0 ? left : ttl;
    }
}
