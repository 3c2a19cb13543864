package io.dbsemaphore.line;

import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * The waiting callers of this instance, and how it takes part in the order of all instances' callers.
 *
 * @param id the id of this instance, which changes if the process turns out to be a copy
 * @param owner the name of this instance
 * @param fair whether the permits of a semaphore are granted in that order
 * @param waiting the waiting callers, by semaphore; semaphores that nobody waits for are missing
 */
public record OwnLines(LongSupplier id, String owner, Predicate<String> fair, Map<String, LineHead> waiting) {

    public OwnLines {
        waiting = Map.copyOf(waiting);
    }

    /** This instance, while nobody waits. */
    public OwnLines(LongSupplier id, String owner, Predicate<String> fair) {
        this(id, owner, fair, Map.of());
    }

    public OwnLines with(Map<String, LineHead> callers) {
        return new OwnLines(id, owner, fair, callers);
    }

    public long instance() {
        return id.getAsLong();
    }

    public boolean isFair(String name) {
        return fair.test(name);
    }

    public LineHead of(String name) {
        return waiting.getOrDefault(name, LineHead.EMPTY);
    }
}
