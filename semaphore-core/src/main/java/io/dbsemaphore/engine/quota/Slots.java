package io.dbsemaphore.engine.quota;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A lock-free bag of elements. Each thread begins at a different slot, so that concurrent threads seldom write to the same one. A queue
 * takes the elements that do not fit.
 */
final class Slots<T> {

    private static final int SIZE_BITS = 7;
    private static final int SIZE = 1 << SIZE_BITS;

    /** Spreads thread ids, which are consecutive numbers (Fibonacci hashing). */
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    private final AtomicReferenceArray<@Nullable T> slots = new AtomicReferenceArray<>(SIZE);
    private final Queue<T> others = new ConcurrentLinkedQueue<>();

    void add(T item) {
        int first = firstSlot();
        for (int i = 0; i < SIZE; i++) {
            int slot = (first + i) & (SIZE - 1);
            if (slots.get(slot) == null && slots.compareAndSet(slot, null, item)) {
                return;
            }
        }
        others.add(item);
    }

    /** Removes an element that matches; null if there is none. */
    @SuppressWarnings("ModifyCollectionInEnhancedForLoop") // this kind of queue may change meanwhile
    @Nullable T poll(Predicate<T> filter) {
        int first = firstSlot();
        for (int i = 0; i < SIZE; i++) {
            int slot = (first + i) & (SIZE - 1);
            T item = slots.get(slot);
            if (item != null && filter.test(item) && slots.compareAndSet(slot, item, null)) {
                return item;
            }
        }
        for (T item : others) {
            if (filter.test(item) && others.remove(item)) {
                return item;
            }
        }
        return null;
    }

    /** Returns the elements without removing them. */
    Stream<T> stream() {
        return Stream.concat(
                IntStream.range(0, SIZE).mapToObj(slots::get).flatMap(Stream::ofNullable), others.stream());
    }

    private static int firstSlot() {
        return (int) ((Thread.currentThread().getId() * SPREAD) >>> (Long.SIZE - SIZE_BITS));
    }
}
