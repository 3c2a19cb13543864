package io.dbsemaphore.engine.batch;

import io.dbsemaphore.engine.batch.Acquire.Stage;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.Waiter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The acquires to be tried, in their {@linkplain Acquire#IN_ORDER order}, and the choice of those for the next batch.
 *
 * <p>A batch gets the acquires of semaphores without a batch in flight, in that order for each semaphore. A skipped acquire
 * reserves all its semaphores, so that no later one overtakes it, unless the batch that blocks it is stalled.
 *
 * <p>Acquires that pause before another attempt are kept apart until the pause has ended. The others are grouped by the semaphores
 * they name, so that thousands with the same names are skipped in one step.
 */
final class ReadyQueue {

    private static final Comparator<Acquire> BY_PAUSE =
            Comparator.comparing(Acquire::notBefore).thenComparing(Acquire.IN_ORDER);

    /** The maximum number of semaphores of a batch. */
    private static final int MAX_NAMES = 200;

    private final Map<Group, TreeSet<Acquire>> ready = new HashMap<>();
    private final TreeSet<Acquire> pausing = new TreeSet<>(BY_PAUSE);
    private final Predicate<String> isBlocked;
    private final Predicate<String> isStalled;
    private final ConflictBackOff backOff;
    private final QueueClock clock;
    private final Map<String, TreeSet<Acquire>> woken = new HashMap<>();
    private int size;
    private int keptAlive;

    /**
     * Creates an empty queue.
     *
     * @param isBlocked whether a batch in flight blocks a semaphore, so that no other batch of it may begin
     * @param isStalled whether such a batch is stalled, so that no acquire reserves a turn behind it
     */
    ReadyQueue(Predicate<String> isBlocked, Predicate<String> isStalled, ConflictBackOff backOff, QueueClock clock) {
        this.isBlocked = isBlocked;
        this.isStalled = isStalled;
        this.backOff = backOff;
        this.clock = clock;
    }

    /** The key by which acquires are selected or skipped together. */
    private record Group(Set<String> names, boolean keptAlive) {

        static Group of(Acquire acquire) {
            return new Group(acquire.names(), acquire.command().isKeptAlive());
        }
    }

    /** Adds an acquire that is not in the queue. Its place must not change while it is. */
    void add(Acquire acquire) {
        acquire.moveTo(Stage.READY);
        size++;
        keptAlive += acquire.command().isKeptAlive() ? 1 : 0;
        if (acquire.hasWaited()) {
            acquire.names()
                    .forEach(name -> woken.computeIfAbsent(name, added -> new TreeSet<>(Acquire.IN_ORDER))
                            .add(acquire));
        }
        if (clock.isPassed(acquire.notBefore())) {
            makeReady(acquire);
        } else {
            pausing.add(acquire);
        }
    }

    private void makeReady(Acquire acquire) {
        boolean unused = ready.computeIfAbsent(Group.of(acquire), group -> new TreeSet<>(Acquire.IN_ORDER))
                .add(acquire);
    }

    /** Removes an acquire, if present. Its pause must not have been changed since it was added. */
    void remove(Acquire acquire) {
        if (pausing.remove(acquire) || removeReady(acquire)) {
            size--;
            keptAlive -= acquire.command().isKeptAlive() ? 1 : 0;
            acquire.names().forEach(name -> removeWoken(name, acquire));
        }
    }

    private void removeWoken(String name, Acquire acquire) {
        woken.computeIfPresent(name, (same, callers) -> callers.remove(acquire) && callers.isEmpty() ? null : callers);
    }

    private boolean removeReady(Acquire acquire) {
        Group group = Group.of(acquire);
        TreeSet<Acquire> members = ready.get(group);
        if (members == null || !members.remove(acquire)) {
            return false;
        }
        if (members.isEmpty()) {
            ready.remove(group);
        }
        return true;
    }

    int size() {
        return size;
    }

    /** Whether the queue has an acquire whose grant this JVM will keep alive. */
    boolean hasKeptAlive() {
        return keptAlive > 0;
    }

    /** The time until the first pause ends; {@link Long#MAX_VALUE} when there is none. */
    long nanosToReady() {
        return pausing.isEmpty()
                ? Long.MAX_VALUE
                : clock.remainingNanos(pausing.first().notBefore());
    }

    /** The acquires of one batch, in the order in which they were chosen. */
    final class Selection {

        private final int maxBatchSize;
        private final boolean mayWait;
        private final List<Acquire> members = new ArrayList<>();
        private final Set<String> names = new HashSet<>();
        private final Set<String> externalIds = new HashSet<>();
        private final Set<String> reserved = new HashSet<>();
        private @Nullable String awaited;
        private boolean closed;

        private Selection(int maxBatchSize, boolean mayWait) {
            this.maxBatchSize = maxBatchSize;
            this.mayWait = mayWait;
        }

        List<Acquire> members() {
            return members;
        }

        /** The names of all semaphores that the members acquire. */
        Set<String> names() {
            return names;
        }

        /**
         * The semaphores whose row locks the batch waits for: at most one. A transaction that waits for a second row would make all others
         * wait for the first (hold and wait, one of the conditions of a deadlock: Coffman, Elphick and Shoshani, <a
         * href="https://doi.org/10.1145/356586.356588">System Deadlocks</a>, 1971). The batch waits for the semaphore whose locked row
         * blocked the first member before, or for its only semaphore.
         *
         * @param atFirst whether the batch also waits for a row that was not found locked before
         */
        Set<String> awaited(boolean atFirst) {
            if (awaited != null) {
                return Set.of(awaited);
            }
            return mayWait && atFirst && names.size() == 1 ? Set.copyOf(names) : Set.of();
        }

        private boolean isFull() {
            return closed || members.size() >= maxBatchSize || names.size() >= MAX_NAMES;
        }

        /** Selects or skips an acquire. Returns false if all later ones with the same names would be skipped, too. */
        private boolean consider(Acquire acquire) {
            if (backOff.isPaused(acquire.names())) {
                return false; // and its other semaphores are not reserved
            }
            boolean taken = isAnyTaken(acquire.names());
            if (!taken && members.isEmpty()) {
                awaited = mayWait ? acquire.attempt().blockedBy() : null;
                closed = acquire.attempt().isIsolated();
                add(acquire);
                return true;
            }
            if (!taken && exceedsMaxNames(acquire)) {
                closed = true;
                return false;
            }
            if (!taken && fits(acquire)) {
                add(acquire);
                return true;
            }
            skip(acquire);
            return false;
        }

        private boolean isAnyTaken(Set<String> wanted) {
            for (String name : wanted) { // no stream: this runs for each caller, under the lock of the queue
                if (reserved.contains(name) || isBlocked.test(name)) {
                    return true;
                }
            }
            return false;
        }

        private boolean exceedsMaxNames(Acquire acquire) {
            long more = acquire.names().stream()
                    .filter(name -> !names.contains(name))
                    .count();
            return names.size() + more > MAX_NAMES;
        }

        private boolean fits(Acquire acquire) {
            boolean needsAnother =
                    mayWait && awaited == null && acquire.attempt().blockedBy() != null;
            boolean wouldWaitToo =
                    awaited == null || (acquire.names().contains(awaited) && names.containsAll(acquire.names()));
            return !acquire.attempt().isIsolated()
                    && !needsAnother
                    && wouldWaitToo
                    && !externalIds.contains(acquire.command().externalId());
        }

        private void add(Acquire acquire) {
            members.add(acquire);
            names.addAll(acquire.names());
            externalIds.add(acquire.command().externalId());
        }

        /** Skips an acquire, and reserves its semaphores, unless a stalled batch blocks it. */
        private void skip(Acquire acquire) {
            if (acquire.names().stream().noneMatch(isStalled)) {
                reserved.addAll(acquire.names());
            }
        }
    }

    /** Whether a batch can begin. */
    boolean isSelectable(boolean mayWait) {
        return size > 0 && !select(1, true, mayWait).members.isEmpty();
    }

    /**
     * Chooses the acquires of a batch. They are considered one by one in their order until the batch is full.
     *
     * @param maxBatchSize the maximum number of acquires
     * @param withKeptAlive whether to choose acquires whose grants this JVM will keep alive; otherwise their semaphores are reserved
     * @param mayWait whether the batch may wait for rows that other transactions have locked
     */
    Selection select(int maxBatchSize, boolean withKeptAlive, boolean mayWait) {
        while (nanosToReady() <= 0) {
            makeReady(pausing.pollFirst());
        }
        Selection selection = new Selection(maxBatchSize, mayWait);
        PriorityQueue<Acquire> firstOfGroups = new PriorityQueue<>(Acquire.IN_ORDER);
        ready.values().forEach(members -> firstOfGroups.add(members.first()));
        while (!firstOfGroups.isEmpty() && !selection.isFull()) {
            Acquire first = firstOfGroups.remove();
            if (!withKeptAlive && first.command().isKeptAlive()) {
                selection.skip(first);
            } else if (selection.consider(first)) {
                Acquire next =
                        Objects.requireNonNull(ready.get(Group.of(first))).higher(first);
                if (next != null) {
                    firstOfGroups.add(next);
                }
            }
        }
        return selection;
    }

    /** The semaphores of the acquires that have waited: other instances may know of these. */
    Set<String> namesOfWoken() {
        return new HashSet<>(woken.keySet());
    }

    /** The acquires that have waited for a semaphore. */
    Collection<Acquire> woken(String name) {
        TreeSet<Acquire> callers = woken.get(name);
        return callers == null ? Set.of() : callers;
    }

    /** The number of acquires that have waited for a semaphore and stand before this one. */
    int wokenAhead(String name, Acquire acquire) {
        TreeSet<Acquire> callers = woken.get(name);
        return callers == null ? 0 : callers.headSet(acquire).size();
    }

    /**
     * Adds to a semaphore's waiting callers the acquires of this queue that have waited for it. Other instances must know of these acquires
     * until they are decided.
     */
    LineHead withWoken(String name, LineHead waiting) {
        TreeSet<Acquire> callers = woken.get(name);
        if (callers == null) {
            return waiting;
        }
        List<Waiter> first = callers.stream()
                .limit(waiting.isShared() ? LineHead.MAX_WITH_SHARES : LineHead.MAX_FIRST)
                .map(acquire -> acquire.toWaiter(name))
                .toList();
        return waiting.with(first, callers.size());
    }

    List<Acquire> clear() {
        List<Acquire> all = new ArrayList<>(pausing);
        ready.values().forEach(members -> all.addAll(members));
        pausing.clear();
        ready.clear();
        woken.clear();
        size = 0;
        keptAlive = 0;
        return all;
    }
}
