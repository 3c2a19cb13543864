package io.dbsemaphore.engine;

import io.dbsemaphore.admin.SemaphoreAdmin.OtherCapacities;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.domain.PatternCapacity;
import io.dbsemaphore.engine.batch.GroupCommit;
import io.dbsemaphore.persistence.AdminTransactions;
import io.dbsemaphore.persistence.unit.Retries;
import io.dbsemaphore.persistence.unit.Sql;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToIntFunction;

/**
 * The capacities, which nobody has set by hand, of semaphores that patterns have created. Such a semaphore belongs to the longest pattern
 * that matches its name now, even if another one has created it.
 */
record PatternCapacities(
        SemaphoreSettings settings, AdminTransactions transactions, Retries retry, GroupCommit commit) {

    private static final int READ_AT_ONCE = 10_000;
    /** For an IN-list of more than 200 values, MySQL uses statistics instead of index dives, and may scan the table. */
    private static final int LOCKED_AT_ONCE = 200;

    private static final int EXAMPLES = 5;

    /**
     * Sets the capacity of all semaphores of a pattern, except where a provider of the application has set it. Returns the number of
     * changes.
     *
     * @throws IllegalArgumentException if it is not a pattern of this engine
     */
    int set(String pattern, int capacity, String changedBy, String reason) {
        require(pattern);
        int changed = set(pattern, capacity, LOCKED_AT_ONCE, changedBy, reason);
        // rows that others had locked, each in its own transaction, which waits
        return changed + set(pattern, capacity, 1, changedBy, reason);
    }

    private int set(String pattern, int capacity, int atOnce, String changedBy, String reason) {
        return others(
                pattern,
                capacity,
                page -> set(page.stream().map(PatternCapacity::id).toList(), capacity, atOnce, changedBy, reason));
    }

    /**
     * Sets the capacity of these semaphores in batches, and then of those that others had locked, each in its own transaction. Returns the
     * number of changes.
     */
    int set(List<Long> ids, int capacity, String changedBy, String reason) {
        int changed = set(ids, capacity, LOCKED_AT_ONCE, changedBy, reason);
        return changed == ids.size() ? changed : changed + set(ids, capacity, 1, changedBy, reason);
    }

    private int set(List<Long> ids, int capacity, int atOnce, String changedBy, String reason) {
        int changed = 0;
        for (List<Long> batch : Sql.chunks(ids, atOnce)) {
            changed += retry.call(() -> transactions.setCapacities(batch, capacity, changedBy, reason));
            commit.pollNow();
        }
        return changed;
    }

    /**
     * The semaphores of a pattern whose capacity is not this one, nor set by an application's provider.
     *
     * @throws IllegalArgumentException if it is not a pattern of this engine
     */
    OtherCapacities others(String pattern, int capacity) {
        require(pattern);
        SortedMap<String, Integer> examples = new TreeMap<>();
        int count = others(pattern, capacity, page -> {
            page.stream().limit(EXAMPLES - examples.size()).forEach(each -> examples.put(each.name(), each.capacity()));
            return page.size();
        });
        return new OtherCapacities(count, examples);
    }

    private void require(String pattern) {
        Set<String> patterns = settings.get(SemaphoreSettings.PATTERNS).keySet();
        if (!patterns.contains(pattern)) {
            throw new IllegalArgumentException(
                    "'%s' is not a pattern of this engine. It has %s".formatted(pattern, new TreeSet<>(patterns)));
        }
    }

    /** The first semaphores of patterns after this id, in ascending order. */
    List<PatternCapacity> page(long afterId, int limit) {
        return retry.call(() -> transactions.findOfPatterns(afterId, limit));
    }

    private int others(String pattern, int capacity, ToIntFunction<List<PatternCapacity>> work) {
        int sum = 0;
        long after = 0;
        List<PatternCapacity> page;
        do {
            long afterId = after;
            page = retry.call(() -> transactions.findOfPatterns(pattern, capacity, afterId, READ_AT_ONCE));
            sum += work.applyAsInt(page.stream()
                    .filter(each -> settings.patternOf(each.name())
                            .filter(longest -> longest.getKey().equals(pattern))
                            .isPresent())
                    .toList());
            after = page.isEmpty() ? after : page.get(page.size() - 1).id();
        } while (!page.isEmpty());
        return sum;
    }
}
