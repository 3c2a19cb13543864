package io.dbsemaphore.boot.metrics;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.spi.SemaphoreListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter.MeterProvider;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Meters for acquires, which {@link InstrumentedPermitManager} reports, and for the events of a {@link SemaphoreListener}. */
final class SemaphoreMetrics implements SemaphoreListener {

    static final String SEMAPHORE = "semaphore";
    static final String SHARE = "share";
    static final String OUTCOME = "outcome";
    static final String GRANTED = "granted";
    static final String REUSED = "reused";
    static final String REFUSED = "refused";
    static final String FAILED = "failed";
    static final String REASON = "reason";
    static final String NO_PERMITS = "permits";
    static final String FULL_QUEUE = "queue";

    private static final String EXCEPTION = "exception";

    /** The most frequent exceptions, whose counters exist from the start. */
    private static final List<String> RETRIED = List.of(
            "CannotAcquireLockException",
            "CommitOutcomeUnknownException",
            "DataAccessResourceFailureException",
            "DuplicateKeyException");

    private static final List<String> OUTCOMES = List.of(GRANTED, REFUSED, FAILED, REUSED);

    private final ConfiguredNames names;
    private final Map<String, AtomicInteger> waiting = new HashMap<>();
    private final Map<Tags, AtomicInteger> waitingOfShares = new ConcurrentHashMap<>();
    private final MeterRegistry registry;
    private final MeterProvider<Timer> acquires;
    private final MeterProvider<Timer> acquiresOfShares;
    private final MeterProvider<Timer> wait;
    private final MeterProvider<Timer> hold;
    private final MeterProvider<Counter> refused;
    private final MeterProvider<Counter> expired;
    private final MeterProvider<Counter> lost;
    private final MeterProvider<Counter> retries;
    private final DistributionSummary batchSize;

    SemaphoreMetrics(MeterRegistry registry, ConfiguredNames names) {
        this.names = names;
        this.registry = registry;
        acquires = Timer.builder("semaphore.acquire")
                .description("Duration of acquires, from the call to its end")
                .withRegistry(registry);
        acquiresOfShares = Timer.builder("semaphore.share.acquire")
                .description("Duration of acquires with a share, from the call to its end")
                .withRegistry(registry);
        wait = Timer.builder("semaphore.wait")
                .description("Duration of acquires that had a wait time and found too few permits at first")
                .withRegistry(registry);
        hold = Timer.builder("semaphore.hold")
                .description("Time from the acquire to the release, if this instance did both")
                .withRegistry(registry);
        refused = Counter.builder("semaphore.refused")
                .description(
                        "Acquires that were refused because this semaphore had too few permits, or too many callers waited for it")
                .withRegistry(registry);
        expired = Counter.builder("semaphore.expired")
                .description("Requests that this instance reclaimed because their holder was gone")
                .withRegistry(registry);
        lost = Counter.builder("semaphore.lost")
                .description("Grants of this instance that were found lost while their work may still be running")
                .withRegistry(registry);
        retries = Counter.builder("semaphore.retries")
                .description("Transactions of the library that failed and were tried again")
                .withRegistry(registry);
        batchSize = DistributionSummary.builder("semaphore.batch.size")
                .description("How many acquires one transaction decided")
                .register(registry);
        names.all().forEach(this::startAtZero);
        RETRIED.forEach(exception -> retries.withTags(EXCEPTION, exception));
    }

    /** Registers the meters now: a counter that its first event registers does not show that event as an increase. */
    private void startAtZero(String name) {
        AtomicInteger callers = new AtomicInteger();
        waiting.put(name, callers);
        Gauge.builder("semaphore.waiting", callers, AtomicInteger::get)
                .description("Callers of this instance with an acquire in progress")
                .tag(SEMAPHORE, name)
                .register(registry);
        OUTCOMES.forEach(outcome -> acquires.withTags(SEMAPHORE, name, OUTCOME, outcome));
        for (String share : names.sharesOf(name)) {
            OUTCOMES.forEach(outcome -> acquiresOfShares.withTags(SEMAPHORE, name, SHARE, share, OUTCOME, outcome));
            AtomicInteger unused = waitingOf(Tags.of(SEMAPHORE, name, SHARE, share));
        }
        wait.withTags(SEMAPHORE, name, OUTCOME, GRANTED);
        wait.withTags(SEMAPHORE, name, OUTCOME, REFUSED);
        hold.withTags(SEMAPHORE, name);
        refused.withTags(SEMAPHORE, name, REASON, NO_PERMITS);
        refused.withTags(SEMAPHORE, name, REASON, FULL_QUEUE);
        expired.withTags(SEMAPHORE, name);
        lost.withTags(SEMAPHORE, name);
    }

    private AtomicInteger waitingOf(Tags share) {
        return waitingOfShares.computeIfAbsent(share, tags -> {
            AtomicInteger callers = new AtomicInteger();
            Gauge.builder("semaphore.share.waiting", callers, AtomicInteger::get)
                    .description("Callers of this instance with an acquire in progress that has a share")
                    .tags(tags)
                    .register(registry);
            return callers;
        });
    }

    /** Counts an acquire that begins. */
    void started(Set<String> configured) {
        configured.forEach(name -> Objects.requireNonNull(waiting.get(name)).incrementAndGet());
    }

    /** Counts an acquire with this share that begins. */
    void started(Collection<String> semaphores, String share) {
        tagsOf(semaphores, share).forEach(tags -> waitingOf(tags).incrementAndGet());
    }

    /** Counts and times its end. Decrements first, which cannot throw: a failing timer would leave the gauge too high for good. */
    void ended(Set<String> configured, String outcome, long nanos) {
        configured.forEach(name -> Objects.requireNonNull(waiting.get(name)).decrementAndGet());
        configured.forEach(
                name -> acquires.withTags(SEMAPHORE, name, OUTCOME, outcome).record(nanos, TimeUnit.NANOSECONDS));
    }

    /** Counts and times the end of an acquire with this share. */
    void ended(Collection<String> semaphores, String share, String outcome, long nanos) {
        Set<Tags> shares = tagsOf(semaphores, share);
        shares.forEach(tags -> waitingOf(tags).decrementAndGet());
        shares.forEach(
                tags -> acquiresOfShares.withTags(tags.and(OUTCOME, outcome)).record(nanos, TimeUnit.NANOSECONDS));
    }

    private Set<Tags> tagsOf(Collection<String> semaphores, String share) {
        Set<Tags> tags = new HashSet<>();
        semaphores.forEach(name -> names.of(Set.of(name))
                .forEach(configured -> tags.add(Tags.of(SEMAPHORE, configured, SHARE, names.ofShare(name, share)))));
        return tags;
    }

    @Override
    public void acquired(Acquired event) {
        if (event.waited()) {
            recordWait(event.grant().permits().keySet(), GRANTED, event.duration());
        }
    }

    @Override
    public void refused(Refused event) {
        boolean mayWait = event.shortages().stream().noneMatch(each -> each.isQueueFull() && !each.displaced());
        if (mayWait && !event.request().waitTime().orElse(Duration.ZERO).isZero()) {
            recordWait(event.request().permits().keySet(), REFUSED, event.duration());
        }
        countRefused(event.shortages(), false);
        countRefused(event.shortages(), true);
    }

    @Override
    public void released(Released event) {
        event.held()
                .ifPresent(held -> names.of(event.permits().keySet())
                        .forEach(name -> hold.withTags(SEMAPHORE, name).record(held)));
    }

    @Override
    public void expired(Expired event) {
        count(expired, event.permits().keySet());
    }

    @Override
    public void lost(Lost event) {
        count(lost, event.grant().permits().keySet());
    }

    @Override
    public void decided(Decided event) {
        batchSize.record(event.acquires());
    }

    @Override
    public void retried(Retried event) {
        retries.withTags(EXCEPTION, event.failure().getClass().getSimpleName()).increment();
    }

    private void recordWait(Collection<String> semaphores, String outcome, Duration waited) {
        names.of(semaphores)
                .forEach(
                        name -> wait.withTags(SEMAPHORE, name, OUTCOME, outcome).record(waited));
    }

    private void countRefused(List<PermitShortage> shortages, boolean isQueueFull) {
        names.of(shortages.stream()
                        .filter(shortage -> shortage.isQueueFull() == isQueueFull)
                        .map(PermitShortage::name)
                        .toList())
                .forEach(name -> refused.withTags(SEMAPHORE, name, REASON, isQueueFull ? FULL_QUEUE : NO_PERMITS)
                        .increment());
    }

    private void count(MeterProvider<Counter> counters, Collection<String> semaphores) {
        names.of(semaphores).forEach(name -> counters.withTags(SEMAPHORE, name).increment());
    }
}
