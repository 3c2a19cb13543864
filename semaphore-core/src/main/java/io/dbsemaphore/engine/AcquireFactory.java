package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.config.HostTransaction;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.ReuseTerms;
import io.dbsemaphore.engine.batch.Acquire;
import io.dbsemaphore.engine.hold.InstanceLease;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Creates the {@link Acquire} for a request: checks the request against the configured limits, and applies the defaults. */
final class AcquireFactory {

    private static final Logger log = LoggerFactory.getLogger(AcquireFactory.class);

    private static final Duration LONGEST_HOLD = Duration.ofDays(36_500);

    private final SemaphoreSettings settings;
    private final String defaultOwner;
    private final InstanceLease lease;
    private final AtomicBoolean warnedOfHostTransaction = new AtomicBoolean();

    AcquireFactory(SemaphoreSettings settings, InstanceLease lease) {
        this.settings = settings;
        this.defaultOwner = settings.get(SemaphoreSettings.OWNER); // once: it may look up the name of the host
        this.lease = lease;
    }

    /**
     * Adds to a request without a wait time the longest one that is configured for its semaphores.
     *
     * @throws IllegalArgumentException if the head start exceeds its limit, or there is a share and a semaphore is not fair, even if an
     *     idle permit would serve the request
     */
    AcquireRequest withDefaults(AcquireRequest request) {
        if (!request.headStart().isZero()
                && request.headStart().compareTo(settings.get(SemaphoreSettings.MAX_HEAD_START)) > 0) {
            throw new IllegalArgumentException("The head start must be at most %s (semaphore.max-head-start): %s"
                    .formatted(settings.get(SemaphoreSettings.MAX_HEAD_START), request.headStart()));
        }
        request.share().ifPresent(share -> requireFair(share, request.permits().keySet()));
        if (request.waitTime().isPresent()) {
            return request;
        }
        PerSemaphore<Duration> waitTimes = settings.get(SemaphoreSettings.WAIT_TIME);
        Duration longest = Duration.ZERO;
        for (String name : request.permits().keySet()) {
            Duration waitTime = waitTimes.of(name);
            longest = waitTime.compareTo(longest) > 0 ? waitTime : longest;
        }
        return longest.isZero() ? request : request.withWaitTime(longest);
    }

    private void requireFair(String share, Set<String> names) {
        PerSemaphore<Boolean> fair = settings.get(SemaphoreSettings.FAIR);
        for (String name : names) {
            if (!fair.of(name)) {
                throw new IllegalArgumentException(
                        ("The share '%s' cannot be kept: semaphore '%s' is not fair (semaphore.semaphores.<name>.fair,"
                                        + " semaphore.defaults.fair), so each instance has a queue of its own. Nothing was"
                                        + " acquired. Set fair to true, or acquire without a share")
                                .formatted(share, name));
            }
        }
    }

    /**
     * Begins an acquire.
     *
     * @param forWork whether this JVM is about to do work under the grant, which is then kept alive by default
     * @throws IllegalArgumentException if the request exceeds a limit
     * @throws IllegalTransactionStateException within an open transaction, if such acquires are refused
     */
    Acquire begin(AcquireRequest request, boolean forWork) {
        boolean keptAlive = request.keepAlive().orElse(forWork) && !request.isWithoutTtl();
        boolean detectsLeaks =
                !settings.get(SemaphoreSettings.LEAK_DETECTION_THRESHOLD).isZero();
        Throwable stack = detectsLeaks ? new Throwable("The permits were acquired here") : null;
        return new Acquire(
                new Acquire.Call(request, System.nanoTime(), forWork, stack),
                command(request, !forWork || request.isAdopt(), keptAlive));
    }

    /**
     * The command of a request.
     *
     * @param replayable whether a grant that is held under the request's external id may be returned again
     * @param keptAlive whether this JVM keeps the grant alive
     */
    private AcquireCommand command(AcquireRequest request, boolean replayable, boolean keptAlive) {
        if (request.permits().size() > settings.get(SemaphoreSettings.MAX_NAMES_PER_REQUEST)) {
            throw new IllegalArgumentException("The request names %d semaphores, at most %d are allowed"
                            .formatted(request.permits().size(), settings.get(SemaphoreSettings.MAX_NAMES_PER_REQUEST))
                    + " (semaphore.max-names-per-request)");
        }
        checkHostTransaction(request);
        return new AcquireCommand(
                request.externalId().orElseGet(() -> UUID.randomUUID().toString()),
                request.externalId().isPresent(),
                replayable,
                request.permits(),
                request.isExclusive(),
                keptAlive ? shorter(ttl(request), maxHold(request)) : ttl(request),
                request.owner().orElse(defaultOwner),
                request.label().orElse(null),
                keptAlive ? lease::id : null);
    }

    /**
     * Checks, without the database, whether an acquire is made within an open transaction of the application.
     *
     * @throws IllegalTransactionStateException if such acquires are refused
     */
    void checkHostTransaction(AcquireRequest request) {
        HostTransaction choice = settings.get(SemaphoreSettings.HOST_TRANSACTION);
        if (choice == HostTransaction.ALLOW || !TransactionSynchronizationManager.isActualTransactionActive()) {
            return;
        }
        if (choice == HostTransaction.REFUSE) {
            throw new IllegalTransactionStateException(
                    "%s cannot be acquired within an open transaction (semaphore.host-transaction=refuse): it keeps one"
                                    .formatted(request.permits().keySet())
                            + " connection of the pool while the acquire needs another. Nothing was acquired. Put @WithPermits"
                            + " on the @Transactional method itself, or make a @TransactionalEventListener @Async, too");
        }
        if (warnedOfHostTransaction.compareAndSet(false, true)) {
            log.warn(
                    "{} is acquired within an open transaction, which keeps one connection while the acquire needs"
                            + " another: if as many threads do this as the pool has connections, they block each other"
                            + " until the pool's timeout. Put @WithPermits on the @Transactional method itself, or make a"
                            + " @TransactionalEventListener @Async, too. Or make the pool larger than the number of these"
                            + " threads, and set semaphore.host-transaction=allow. This warning is logged once",
                    request.permits().keySet());
        }
    }

    /** The terms that a permit of this JVM must match to be reused for the request; null if none can be. */
    @Nullable ReuseTerms reuseTerms(AcquireRequest request, boolean keptAlive) {
        if (!keptAlive
                || request.permits().size() != 1
                || request.isWithoutTtl()
                || request.externalId().isPresent()
                || request.share().isPresent() // its permits are granted by turns
                || request.owner().isPresent()) {
            return null;
        }
        Map.Entry<String, Integer> permits =
                request.permits().entrySet().iterator().next();
        return new ReuseTerms(
                permits.getKey(),
                permits.getValue(),
                request.isExclusive(),
                request.isReleaseAtShutdown(),
                request.ttl().orElse(settings.get(SemaphoreSettings.DEFAULT_TTL)),
                maxHold(request));
    }

    /**
     * The maximum hold of this request; if it sets none, the shortest that is configured for its semaphores. Limited so that the database
     * can store the expiry, and the monotonic clock can measure it.
     */
    Duration maxHold(AcquireRequest request) {
        PerSemaphore<Duration> maxHolds = settings.get(SemaphoreSettings.MAX_HOLD);
        Duration maxHold = request.maxHold()
                .orElseGet(() -> Collections.min(
                        request.permits().keySet().stream().map(maxHolds::of).toList()));
        return Collections.min(List.of(LONGEST_HOLD, maxHold));
    }

    /** Checks a time to live against the limits. */
    Duration checkTtl(Duration ttl) {
        if (ttl.compareTo(AcquireRequest.MIN_TTL) < 0 || ttl.compareTo(settings.get(SemaphoreSettings.MAX_TTL)) > 0) {
            throw new IllegalArgumentException("The TTL must be between %s and %s (semaphore.max-ttl): %s"
                    .formatted(AcquireRequest.MIN_TTL, settings.get(SemaphoreSettings.MAX_TTL), ttl));
        }
        return ttl;
    }

    /** Limits the time to live of a grant that is kept alive to its maximum hold. */
    private static @Nullable Duration shorter(@Nullable Duration ttl, Duration maxHold) {
        return ttl == null || ttl.compareTo(maxHold) <= 0 ? ttl : maxHold;
    }

    private @Nullable Duration ttl(AcquireRequest request) {
        return request.isWithoutTtl()
                ? null
                : checkTtl(request.ttl().orElse(settings.get(SemaphoreSettings.DEFAULT_TTL)));
    }
}
