package io.dbsemaphore.config;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreName;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.regex.Pattern;

/**
 * How the engine works. Immutable.
 *
 * @param owner who holds what is acquired without an owner: this application instance
 * @param tablePrefix what the names of the tables begin with; empty by default
 * @param defaultTtl the time to live of a request that names none
 * @param maxTtl the longest time to live that may be asked for
 * @param maxHold where the keep-alive of a request ends that says nothing else
 * @param keepAliveInterval the longest time between two renewals of a grant that is kept alive; a third of its TTL where
 *     that is sooner
 * @param instanceTimeout after how long without a heartbeat the permits that a JVM kept alive are taken back; at least
 *     three seconds. A third of it is the grace in which a live JVM must send its next heartbeat after an outage of the
 *     database, and so must be longer than the pool pauses between two tries to connect: HikariCP up to five seconds,
 *     so that below 18 seconds an outage may cost live JVMs what they hold
 * @param shutdownTimeout how long a shutdown waits for work under permits to end
 * @param lockWaitTimeout how long one statement waits for a row that another transaction has locked
 * @param decisionTimeout how long a decision of the database is awaited when the wait time of its caller is over; for a
 *     caller without a wait time, from when it came
 * @param sessionIdleLimit after how long without a statement the server ends the session of an open transaction of
 *     ours, and with it the locks of a JVM that froze
 * @param maxAttempts how often a transaction is tried that lost against another one
 * @param maxNamesPerRequest how many semaphores one request may name
 * @param maxBatchSize how many acquires one transaction decides at most; the same bound holds for releases and for
 *     renewals. 1 means one caller per transaction, which is slower and promises the same
 * @param maxConnections how many connections of the pool are used at once, whatever the number of threads
 * @param pipelining whether several statements are sent to the database at once where its driver can; without it each is a
 *     round trip, as some filters, proxies and firewalls demand
 * @param hostTransaction what becomes of an acquire within an open transaction of the application
 */
public record SemaphoreSettings(
        String owner,
        String tablePrefix,
        Duration defaultTtl,
        Duration maxTtl,
        Duration maxHold,
        Duration keepAliveInterval,
        Duration instanceTimeout,
        Duration shutdownTimeout,
        Duration lockWaitTimeout,
        Duration decisionTimeout,
        Duration sessionIdleLimit,
        int maxAttempts,
        int maxNamesPerRequest,
        int maxBatchSize,
        int maxConnections,
        boolean pipelining,
        HostTransaction hostTransaction) {

    private static final Pattern TABLE_PREFIX = Pattern.compile("[A-Za-z0-9_]{0,30}");

    /** Checks the values against each other. */
    public SemaphoreSettings {
        SemaphoreName.requireValidKey("semaphore.owner", owner);
        require(
                TABLE_PREFIX.matcher(tablePrefix).matches(),
                "table-prefix",
                tablePrefix,
                "up to 30 letters, digits, _");
        require(maxTtl.compareTo(AcquireRequest.MIN_TTL) >= 0, "max-ttl", maxTtl, "at least " + AcquireRequest.MIN_TTL);
        require(maxTtl.compareTo(Duration.ofDays(3650)) <= 0, "max-ttl", maxTtl, "at most ten years");
        require(
                defaultTtl.compareTo(AcquireRequest.MIN_TTL) >= 0 && defaultTtl.compareTo(maxTtl) <= 0,
                "default-ttl",
                defaultTtl,
                "between " + AcquireRequest.MIN_TTL + " and max-ttl");
        require(!maxHold.isNegative() && !maxHold.isZero(), "max-hold", maxHold, "positive");
        require(
                keepAliveInterval.compareTo(Duration.ofMillis(100)) >= 0,
                "keep-alive-interval",
                keepAliveInterval,
                "at least 100ms");
        require(
                instanceTimeout.compareTo(Duration.ofSeconds(3)) >= 0,
                "instance-timeout",
                instanceTimeout,
                "at least three seconds");
        require(!shutdownTimeout.isNegative(), "shutdown-timeout", shutdownTimeout, "zero or positive");
        require(atLeastOneSecond(lockWaitTimeout), "lock-wait-timeout", lockWaitTimeout, "at least a second");
        require(atLeastOneSecond(decisionTimeout), "decision-timeout", decisionTimeout, "at least a second");
        require(
                sessionIdleLimit.compareTo(lockWaitTimeout) >= 0,
                "session-idle-limit",
                sessionIdleLimit,
                "not below lock-wait-timeout");
        require(maxAttempts >= 1, "max-attempts", maxAttempts, "at least 1");
        require(maxNamesPerRequest >= 1, "max-names-per-request", maxNamesPerRequest, "at least 1");
        require(maxBatchSize >= 1, "max-batch-size", maxBatchSize, "at least 1");
        require(maxConnections >= 1, "max-connections", maxConnections, "at least 1");
    }

    /**
     * The same with several statements sent at once where the driver can, a warning of acquires within transactions, and the
     * lock wait timeout as that for decisions.
     */
    public SemaphoreSettings(
            String owner,
            String tablePrefix,
            Duration defaultTtl,
            Duration maxTtl,
            Duration maxHold,
            Duration keepAliveInterval,
            Duration instanceTimeout,
            Duration shutdownTimeout,
            Duration lockWaitTimeout,
            Duration sessionIdleLimit,
            int maxAttempts,
            int maxNamesPerRequest,
            int maxBatchSize,
            int maxConnections) {
        this(
                owner,
                tablePrefix,
                defaultTtl,
                maxTtl,
                maxHold,
                keepAliveInterval,
                instanceTimeout,
                shutdownTimeout,
                lockWaitTimeout,
                lockWaitTimeout,
                sessionIdleLimit,
                maxAttempts,
                maxNamesPerRequest,
                maxBatchSize,
                maxConnections,
                true,
                HostTransaction.WARN);
    }

    /** The defaults. */
    public static SemaphoreSettings defaults() {
        return new SemaphoreSettings(
                "jvm-" + ManagementFactory.getRuntimeMXBean().getName(),
                "",
                Duration.ofMinutes(5),
                Duration.ofDays(30),
                Duration.ofHours(24),
                Duration.ofHours(1),
                Duration.ofSeconds(20),
                Duration.ofSeconds(20),
                Duration.ofSeconds(5),
                Duration.ofSeconds(10),
                3,
                100,
                500,
                4);
    }

    /** The same with another prefix of the tables' names. */
    public SemaphoreSettings withTablePrefix(String prefix) {
        return new SemaphoreSettings(
                owner,
                prefix,
                defaultTtl,
                maxTtl,
                maxHold,
                keepAliveInterval,
                instanceTimeout,
                shutdownTimeout,
                lockWaitTimeout,
                sessionIdleLimit,
                maxAttempts,
                maxNamesPerRequest,
                maxBatchSize,
                maxConnections);
    }

    /** The same with another maximum of acquires that one transaction decides. */
    public SemaphoreSettings withMaxBatchSize(int size) {
        return new SemaphoreSettings(
                owner,
                tablePrefix,
                defaultTtl,
                maxTtl,
                maxHold,
                keepAliveInterval,
                instanceTimeout,
                shutdownTimeout,
                lockWaitTimeout,
                decisionTimeout,
                sessionIdleLimit,
                maxAttempts,
                maxNamesPerRequest,
                size,
                maxConnections,
                pipelining,
                hostTransaction);
    }

    /** The same with several statements sent at once, or not. */
    public SemaphoreSettings withPipelining(boolean several) {
        return new SemaphoreSettings(
                owner,
                tablePrefix,
                defaultTtl,
                maxTtl,
                maxHold,
                keepAliveInterval,
                instanceTimeout,
                shutdownTimeout,
                lockWaitTimeout,
                decisionTimeout,
                sessionIdleLimit,
                maxAttempts,
                maxNamesPerRequest,
                maxBatchSize,
                maxConnections,
                several,
                hostTransaction);
    }

    /** The same with another choice for acquires within an open transaction of the application. */
    public SemaphoreSettings withHostTransaction(HostTransaction choice) {
        return new SemaphoreSettings(
                owner,
                tablePrefix,
                defaultTtl,
                maxTtl,
                maxHold,
                keepAliveInterval,
                instanceTimeout,
                shutdownTimeout,
                lockWaitTimeout,
                decisionTimeout,
                sessionIdleLimit,
                maxAttempts,
                maxNamesPerRequest,
                maxBatchSize,
                maxConnections,
                pipelining,
                choice);
    }

    /** The same with another time for decisions. */
    public SemaphoreSettings withDecisionTimeout(Duration timeout) {
        return new SemaphoreSettings(
                owner,
                tablePrefix,
                defaultTtl,
                maxTtl,
                maxHold,
                keepAliveInterval,
                instanceTimeout,
                shutdownTimeout,
                lockWaitTimeout,
                timeout,
                sessionIdleLimit,
                maxAttempts,
                maxNamesPerRequest,
                maxBatchSize,
                maxConnections,
                pipelining,
                hostTransaction);
    }

    private static boolean atLeastOneSecond(Duration duration) {
        return duration.compareTo(Duration.ofSeconds(1)) >= 0;
    }

    private static void require(boolean valid, String property, Object value, String bound) {
        if (!valid) {
            throw new IllegalArgumentException("semaphore.%s must be %s: %s".formatted(property, bound, value));
        }
    }
}
