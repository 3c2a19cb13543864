package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.concurrent.LimitedExecutor;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.domain.PatternCapacity;
import io.dbsemaphore.spi.CapacityProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The capacities that providers of the application give to semaphores of patterns, before a semaphore is created, and later again. Providers
 * run on threads for code of the application. A caller waits for them until its deadline.
 */
final class ProvidedCapacities {

    private static final Logger log = LoggerFactory.getLogger(ProvidedCapacities.class);

    /** The maximum number of concurrent calls of providers. */
    private static final int MAX_CALLS = 8;

    /** The approximate maximum number of pending questions, reached only if providers do not answer. Further questions fail. */
    private static final int MAX_ASKED = 10_000;

    private static final int READ_AT_ONCE = 1_000;

    private final Supplier<@Nullable List<CapacityProvider>> providers;
    private final SemaphoreSettings settings;
    private final PatternCapacities existing;
    private final ScheduledExecutorService scheduler;
    private final Executor threads;
    private final Map<String, CompletableFuture<Answer>> underWay = new ConcurrentHashMap<>();
    /** The id of the semaphore that was asked about last; 0 if the next pass begins with the first one. */
    private volatile long lastAsked;

    private volatile boolean closed;

    /**
     * The answer of the providers for one semaphore.
     *
     * @param capacity the capacity; empty if none of them gives one
     * @param failure why there is no answer; null if there is one
     */
    record Answer(OptionalInt capacity, @Nullable Throwable failure) {

        static Answer failed(Throwable failure) {
            return new Answer(OptionalInt.empty(), failure);
        }
    }

    /**
     * Creates an instance that has not asked yet.
     *
     * @param applicationThreads calls the providers, which may block
     */
    ProvidedCapacities(
            Supplier<@Nullable List<CapacityProvider>> providers,
            SemaphoreSettings settings,
            PatternCapacities existing,
            ScheduledExecutorService scheduler,
            Executor applicationThreads) {
        this.providers = providers;
        this.settings = settings;
        this.existing = existing;
        this.scheduler = scheduler;
        this.threads = new LimitedExecutor(applicationThreads, MAX_CALLS);
    }

    /** Whether the application has providers, or may have some. */
    boolean exist() {
        List<CapacityProvider> known = providers.get();
        return known == null || !known.isEmpty();
    }

    /**
     * Asks for the capacity of a semaphore. Concurrent callers share one call for the same semaphore.
     *
     * @return a future of the answer, completed by that time, and never exceptionally
     */
    CompletableFuture<Answer> ask(String name, Deadline until) {
        if (closed) {
            return CompletableFuture.completedFuture(Answer.failed(new SemaphoreClosedException()));
        }
        if (underWay.size() >= MAX_ASKED) {
            return CompletableFuture.completedFuture(Answer.failed(
                    new IllegalStateException("It has not answered about %,d other names yet".formatted(MAX_ASKED))));
        }
        CompletableFuture<Answer> called = new CompletableFuture<>();
        CompletableFuture<Answer> shared = underWay.putIfAbsent(name, called);
        if (shared == null) {
            shared = called;
            var unused = CompletableFuture.supplyAsync(() -> new Answer(capacityOf(name), null), threads)
                    .exceptionally(failure -> Answer.failed(Objects.requireNonNullElse(failure.getCause(), failure)))
                    .thenAccept(answer -> {
                        underWay.remove(name);
                        called.complete(answer);
                    });
        }
        if (closed) { // meanwhile
            shared.complete(Answer.failed(new SemaphoreClosedException()));
        }
        CompletableFuture<Answer> inTime = shared.copy();
        long nanos = until.remainingNanos();
        ScheduledFuture<?> timeout = scheduler.schedule(
                () -> inTime.complete(Answer.failed(new TimeoutException(
                        "It has not answered within %d ms; at most %d calls of it are under way at a time"
                                .formatted(TimeUnit.NANOSECONDS.toMillis(nanos), MAX_CALLS)))),
                nanos,
                TimeUnit.NANOSECONDS);
        return inTime.whenComplete((answer, failure) -> timeout.cancel(false));
    }

    /** Ends the waits for providers. */
    void close() {
        closed = true;
        underWay.values().forEach(call -> call.complete(Answer.failed(new SemaphoreClosedException())));
    }

    private OptionalInt capacityOf(String name) {
        List<CapacityProvider> known = providers.get();
        if (known == null) {
            throw new IllegalStateException(
                    "It is not known yet. Spring Boot's starter looks it up when all beans have been created");
        }
        for (CapacityProvider provider : known) {
            OptionalInt capacity = provider.capacityOf(name);
            if (capacity.isPresent()) {
                if (capacity.getAsInt() < 0) {
                    throw new IllegalStateException(
                            "A capacity must not be negative: %d".formatted(capacity.getAsInt()));
                }
                return capacity;
            }
        }
        return OptionalInt.empty();
    }

    /**
     * Asks for the capacities of the existing semaphores, and applies those that differ. So that slow providers do not keep the maintenance
     * from other tasks, a pass ends after half of the time to the next one, which continues there.
     */
    void apply(BooleanSupplier isStopped) {
        Deadline until = Deadline.in(
                settings.get(MaintenanceSettings.ORPHAN_RELEASE_INTERVAL).dividedBy(2));
        Map<String, Throwable> failures = new LinkedHashMap<>();
        int changed = 0;
        boolean ended = !exist();
        while (!ended) {
            long after = lastAsked;
            List<PatternCapacity> page = existing.page(after, READ_AT_ONCE);
            Map<Wanted, List<Long>> changes = new LinkedHashMap<>();
            Iterator<PatternCapacity> rest = page.iterator();
            while (rest.hasNext() && !ended) {
                PatternCapacity next = rest.next();
                wanted(next, failures)
                        .filter(wanted -> next.differsFrom(wanted.capacity(), wanted.by()))
                        .ifPresent(wanted -> changes.computeIfAbsent(wanted, none -> new ArrayList<>())
                                .add(next.id()));
                lastAsked = next.id();
                ended = until.isPassed() || isStopped.getAsBoolean();
            }
            if (!rest.hasNext() && page.size() < READ_AT_ONCE) {
                lastAsked = 0;
                ended = true;
            }
            for (Map.Entry<Wanted, List<Long>> change : changes.entrySet()) {
                changed += set(change.getValue(), change.getKey());
            }
        }
        if (changed > 0) {
            log.info("Applied the capacities of CapacityProvider to {} semaphore(s) of patterns", changed);
        }
        if (!failures.isEmpty() && !isStopped.getAsBoolean()) {
            Map.Entry<String, Throwable> first = failures.entrySet().iterator().next();
            log.warn(
                    "CapacityProvider gave no capacity for {} semaphore(s) of patterns, such as '{}': they keep theirs"
                            + " until the next release of orphans asks again",
                    failures.size(),
                    first.getKey(),
                    first.getValue());
        }
    }

    /** A capacity to set, and by whom. */
    private record Wanted(int capacity, String by) {}

    /** The capacity to set; empty if the semaphore keeps its own. */
    private Optional<Wanted> wanted(PatternCapacity semaphore, Map<String, Throwable> failures) {
        Optional<Integer> ofPattern = settings.patternOf(semaphore.name()).map(Map.Entry::getValue);
        if (ofPattern.isEmpty()) { // of another application
            return Optional.empty();
        }
        Duration patience = settings.get(SemaphoreSettings.DECISION_TIMEOUT);
        Answer answer = ask(semaphore.name(), Deadline.in(patience)).join();
        Throwable failure = answer.failure();
        if (failure != null) {
            failures.put(semaphore.name(), failure);
            return Optional.empty();
        }
        return answer.capacity().isPresent()
                ? Optional.of(new Wanted(answer.capacity().getAsInt(), PatternCapacity.PROVIDER))
                : ofPattern
                        .filter(capacity -> semaphore.isProvided())
                        .map(capacity -> new Wanted(capacity, PatternCapacity.PATTERN));
    }

    private int set(List<Long> semaphores, Wanted wanted) {
        String reason = "asked by the maintenance of " + settings.get(SemaphoreSettings.OWNER);
        return existing.set(semaphores, wanted.capacity(), wanted.by(), reason);
    }
}
