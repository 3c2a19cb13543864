package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.SemaphoreException;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.admin.CapacityUnknownException;
import io.dbsemaphore.admin.PatternLimitExceededException;
import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.engine.batch.Acquire;
import io.dbsemaphore.persistence.AdminTransactions;
import io.dbsemaphore.persistence.AdminTransactions.PatternSemaphore;
import io.dbsemaphore.persistence.unit.Retries;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * On first use, creates semaphores that match a pattern, after asking the application's providers for their capacities. One transaction at
 * a time creates them; the next one creates all that callers have asked for meanwhile.
 */
final class PatternSemaphoreCreator {

    private static final Logger log = LoggerFactory.getLogger(PatternSemaphoreCreator.class);

    private static final int MAX_AT_ONCE = 500;
    private static final int MAX_NAMES = 1000;
    private static final Duration READ_NAMES_EVERY = Duration.ofSeconds(10);
    /** How often semaphores are counted again, because other instances create and delete some. */
    private static final Duration COUNT_EVERY = Duration.ofMinutes(1);
    /**
     * Closer to the limit than this, each creation counts the semaphores, because other instances create some, too.
     */
    private static final long COUNT_BELOW = 10_000;

    private static final int WARN_AT_PERCENT = 80;

    private final SemaphoreSettings settings;
    private final AdminTransactions transactions;
    private final Retries retry;
    private final ProvidedCapacities capacities;
    private final Executor database;

    private final BlockingQueue<Missing> queue = new LinkedBlockingQueue<>();
    private CompletableFuture<?> creation = CompletableFuture.completedFuture(true);
    private volatile @Nullable ExistingNames existing;
    private volatile @Nullable Counted counted;
    private volatile boolean warned;

    private record Counted(long semaphores, long readAt) {}

    private record ExistingNames(List<String> names, long readAt) {}

    /** A missing semaphore of one caller. The future is completed when the semaphore exists. */
    private record Missing(PatternSemaphore semaphore, CompletableFuture<Boolean> created) {

        String name() {
            return semaphore.name();
        }

        Missing with(OptionalInt capacity) {
            return capacity.isEmpty()
                    ? this
                    : new Missing(
                            new PatternSemaphore(name(), capacity.getAsInt(), semaphore.pattern(), true), created);
        }
    }

    /** @param database runs the transactions */
    PatternSemaphoreCreator(
            SemaphoreSettings settings,
            AdminTransactions transactions,
            Retries retry,
            ProvidedCapacities capacities,
            Executor database) {
        this.settings = settings;
        this.transactions = transactions;
        this.retry = retry;
        this.capacities = capacities;
        this.database = database;
    }

    /**
     * Creates the missing semaphores for which an acquire was rejected, if all of them match patterns.
     *
     * @return completed when the acquire has to be tried again; null if it must not be
     */
    @Nullable CompletableFuture<?> createMissing(Acquire acquire, Acquire.Answer answer) {
        if (!(answer.outcome() instanceof GrantOutcome.Rejected rejected
                && rejected.reason() instanceof SemaphoreNotFoundException unknown)) {
            return null;
        }
        List<Missing> missing = new ArrayList<>();
        unknown.names()
                .forEach(name -> settings.patternOf(name)
                        .ifPresent(pattern -> missing.add(new Missing(
                                new PatternSemaphore(name, pattern.getValue(), pattern.getKey(), false),
                                new CompletableFuture<>()))));
        if (missing.size() < unknown.names().size()) {
            return null;
        }
        if (capacities.exist()) {
            Duration decisionTimeout = settings.get(SemaphoreSettings.DECISION_TIMEOUT);
            // just before the caller is told that the database has not decided
            Deadline until = acquire.callDeadline().plus(decisionTimeout.minusMillis(1));
            missing.forEach(each -> ask(each, until));
        } else {
            enqueue(missing);
        }
        return CompletableFuture.allOf(missing.stream().map(Missing::created).toArray(CompletableFuture[]::new));
    }

    /**
     * Adds the existing names to the exception for a missing semaphore. The names are read at most once in ten seconds, because a caller
     * may try a misspelled name in a loop.
     */
    SemaphoreException explain(SemaphoreException reason) {
        return reason instanceof SemaphoreNotFoundException unknown
                ? new SemaphoreNotFoundException(unknown.names(), existingNames())
                : reason;
    }

    private List<String> existingNames() {
        ExistingNames known = existing;
        if (known != null && System.nanoTime() - known.readAt() < READ_NAMES_EVERY.toNanos()) {
            return known.names();
        }
        List<String> names =
                new ArrayList<>(settings.get(SemaphoreSettings.PATTERNS).keySet());
        try {
            names.addAll(retry.call(() -> transactions.names(MAX_NAMES)));
        } catch (RuntimeException failure) {
            log.debug("The names that exist could not be read", failure);
        }
        names.remove(DatabaseSemaphoreMaintenance.SEMAPHORE);
        Collections.sort(names);
        existing = new ExistingNames(names, System.nanoTime());
        return names;
    }

    private void ask(Missing missing, Deadline until) {
        var unused = capacities.ask(missing.name(), until).thenAccept(answer -> {
            Throwable failure = answer.failure();
            if (failure == null) {
                enqueue(List.of(missing.with(answer.capacity())));
            } else {
                missing.created()
                        .completeExceptionally(
                                failure instanceof SemaphoreClosedException
                                        ? new SemaphoreClosedException()
                                        : new CapacityUnknownException(missing.name(), failure));
            }
        });
    }

    private synchronized void enqueue(List<Missing> missing) {
        queue.addAll(missing);
        creation = creation.handleAsync((done, failure) -> createQueued(), database);
    }

    private boolean createQueued() {
        List<Missing> taken = new ArrayList<>();
        while (queue.drainTo(taken, MAX_AT_ONCE) > 0) {
            try {
                create(taken);
            } catch (RuntimeException | Error failure) {
                taken.forEach(each -> each.created().completeExceptionally(failure));
            }
            taken.clear();
        }
        return true;
    }

    private void create(List<Missing> missing) {
        Map<String, PatternSemaphore> byName = new LinkedHashMap<>(); // in arrival order
        missing.forEach(each -> byName.putIfAbsent(each.name(), each.semaphore()));
        int limit = settings.get(SemaphoreSettings.MAX_PATTERN_SEMAPHORES);
        Counted last = fresh();
        long known = last != null && limit - last.semaphores() > COUNT_BELOW ? last.semaphores() : -1;
        // if another JVM creates one of them at the same time, the key is a duplicate, and the next attempt finds the
        // row
        AdminTransactions.Creation creation = retry.call(() ->
                transactions.createOfPatterns(byName.values(), limit, DatabaseSemaphoreMaintenance.SEMAPHORE, known));
        counted(creation.ofPatterns(), known < 0 || last == null ? System.nanoTime() : last.readAt(), limit);
        creation.created()
                .forEach(created -> log.info(
                        "Created semaphore '{}' with capacity {} by the pattern '{}'",
                        created.name(),
                        created.capacity(),
                        created.pattern()));
        missing.forEach(each -> {
            if (creation.beyondLimit().contains(each.name())) {
                each.created()
                        .completeExceptionally(new PatternLimitExceededException(
                                each.name(), each.semaphore().pattern(), limit));
            } else {
                each.created().complete(Boolean.TRUE);
            }
        });
    }

    /** How many semaphores patterns have created in all instances, counted within the last minute. */
    long count() {
        Counted known = fresh();
        if (known == null) {
            long semaphores = settings.get(SemaphoreSettings.PATTERNS).isEmpty()
                    ? 0
                    : retry.call(() -> transactions.countOfPatterns());
            known = new Counted(semaphores, System.nanoTime());
            counted = known;
        }
        return known.semaphores();
    }

    private @Nullable Counted fresh() {
        Counted known = counted;
        return known != null && System.nanoTime() - known.readAt() < COUNT_EVERY.toNanos() ? known : null;
    }

    private void counted(long semaphores, long readAt, long limit) {
        if (semaphores < 0) {
            return;
        }
        counted = new Counted(semaphores, readAt);
        boolean near = semaphores * 100 >= limit * WARN_AT_PERCENT;
        if (near && !warned) {
            log.warn(
                    "Patterns have created {} semaphores, at least {} % of the {} that semaphore.max-pattern-semaphores"
                            + " allows. At the limit, acquires of new names fail. Raise it, or lower"
                            + " semaphore.maintenance.pattern-idle-after",
                    semaphores, WARN_AT_PERCENT, limit);
        }
        warned = near;
    }
}
