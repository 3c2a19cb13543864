package io.dbsemaphore.engine;

import io.dbsemaphore.concurrent.Uninterruptibles;
import io.dbsemaphore.persistence.AdminTransactions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the holders of a semaphore's permits, for the messages of refusals. Many callers may be refused at once while the database is slow,
 * so there is one read at a time, and one per second for each semaphore. A caller that finds another read in progress gets no holders.
 */
final class FirstHolders {

    private static final Logger log = LoggerFactory.getLogger(FirstHolders.class);

    private static final int MAX_HOLDERS = 3;
    private static final int MAX_NAMES = 1000;
    private static final long READ_EVERY = Duration.ofSeconds(1).toNanos();

    /** Short, because the wait time of the caller is over. */
    private static final long MAX_WAIT = Duration.ofMillis(100).toNanos();

    private final AdminTransactions transactions;
    private final Executor database;
    private final Map<String, Reading> readings = new ConcurrentHashMap<>();
    private final Semaphore turn = new Semaphore(1);

    private record Reading(List<String> holders, long at) {}

    /** @param database reads from the database */
    FirstHolders(AdminTransactions transactions, Executor database) {
        this.transactions = transactions;
        this.database = database;
    }

    /** The holders that have had permits of the semaphore longest; empty if not known. */
    List<String> of(String name) {
        if (find(name) == null && turn.tryAcquire()) {
            CountDownLatch ended = new CountDownLatch(1);
            CompletableFuture<?> unused = CompletableFuture.completedFuture(name)
                    .thenAcceptAsync(this::read, database)
                    .whenComplete((done, failure) -> {
                        turn.release();
                        ended.countDown();
                        if (failure != null) {
                            log.debug("The holders of '{}' are not known to the message of a refusal", name, failure);
                        }
                    });
            Uninterruptibles.await(ended, MAX_WAIT);
        }
        Reading known = find(name);
        return known == null ? List.of() : known.holders();
    }

    private @Nullable Reading find(String name) {
        Reading reading = readings.get(name);
        return reading == null || System.nanoTime() - reading.at() > READ_EVERY ? null : reading;
    }

    private void read(String name) {
        long now = System.nanoTime();
        if (readings.size() >= MAX_NAMES) {
            readings.clear();
        }
        readings.put(name, new Reading(transactions.firstHolders(name, MAX_HOLDERS), now));
    }
}
