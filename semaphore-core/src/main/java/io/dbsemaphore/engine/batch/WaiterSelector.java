package io.dbsemaphore.engine.batch;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/** Selects the waiters for which enough permits are available. Guarded by the lock of the {@link GrantQueue}. */
final class WaiterSelector {

    /** How many callers that cannot be served are looked at, at the beginning and where the last selection has ended. */
    private static final int MAX_PASSED = 16;

    private final Map<String, AwaitedSemaphore> byName;
    private final ObjLongConsumer<String> taken;
    private final Consumer<Acquire> remove;
    private final List<Acquire> selected = new ArrayList<>();

    /**
     * Creates a selector for one selection.
     *
     * @param byName the wait queues
     * @param taken receives the permits that are reserved for selected waiters
     * @param remove removes a waiter from its wait queues
     */
    WaiterSelector(
            Map<String, AwaitedSemaphore> byName, ObjLongConsumer<String> taken, Consumer<Acquire> remove) {
        this.byName = byName;
        this.taken = taken;
        this.remove = remove;
    }

    /** Removes the waiters of these semaphores that can be served, and returns them. */
    List<Acquire> select(Collection<String> names) {
        Deque<String> changed = new ArrayDeque<>(names);
        while (!changed.isEmpty()) {
            AwaitedSemaphore semaphore = byName.get(changed.remove());
            if (semaphore != null) {
                changed.addAll(select(semaphore));
            }
        }
        return selected;
    }

    /** Returns the semaphores in whose wait queues others may be next now. */
    private List<String> select(AwaitedSemaphore semaphore) {
        List<String> changed = new ArrayList<>();
        Acquire last = select(semaphore, semaphore.first(), changed);
        if (last != null) { // many callers of several semaphores cannot be served
            Acquire unused = select(semaphore, semaphore.waiting().firstOfOne(), changed);
            Acquire from = semaphore.passed() == null ? last : semaphore.passed();
            semaphore.setPassed(select(semaphore, semaphore.waiting().after(from), changed));
        }
        return changed;
    }

    /**
     * Selects from this waiter on.
     *
     * @return the last one that was looked at, if there may be others behind it that can be served; null otherwise
     */
    private @Nullable Acquire select(
            AwaitedSemaphore semaphore, @Nullable Acquire from, List<String> changed) {
        Acquire next = from;
        for (int passed = 0; next != null; next = semaphore.waiting().after(next)) {
            if (canBeServed(next)) {
                changed.addAll(take(next));
            } else if (!semaphore.isAnyLeftBehind(next)) {
                return null;
            } else if (++passed == MAX_PASSED) {
                return next;
            }
        }
        return null;
    }

    private Set<String> take(Acquire acquire) {
        Map<String, Long> permits = Map.copyOf(acquire.shortOf());
        permits.forEach((name, count) -> {
            AwaitedSemaphore semaphore = byName.get(name);
            if (semaphore != null) {
                semaphore.adjustAvailable(-count);
            }
            taken.accept(name, count);
        });
        remove.accept(acquire);
        selected.add(acquire);
        return permits.size() > 1 ? permits.keySet() : Set.of();
    }

    private boolean canBeServed(Acquire acquire) {
        return isExceeded(acquire)
                || acquire.shortOf().keySet().stream().allMatch(name -> {
                    AwaitedSemaphore semaphore = byName.get(name);
                    return semaphore != null && semaphore.isEnoughFor(acquire);
                });
    }

    /** Whether the acquire asks for more than the capacity of a semaphore, which was lowered: then it need not wait. */
    private boolean isExceeded(Acquire acquire) {
        return acquire.shortOf().keySet().stream().anyMatch(name -> {
            AwaitedSemaphore semaphore = byName.get(name);
            return semaphore != null && semaphore.isExceededBy(acquire);
        });
    }
}
