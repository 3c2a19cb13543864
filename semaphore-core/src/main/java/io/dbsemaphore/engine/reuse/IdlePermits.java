package io.dbsemaphore.engine.reuse;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The idle permits of one semaphore: slots, of which each thread begins with another one, so that threads that acquire and
 * release at the same time seldom write to the same one. Lock-free.
 */
final class IdlePermits {

    private static final int SIZE_BITS = 7;
    private static final int SIZE = 1 << SIZE_BITS;

    /** Spreads thread ids, which are consecutive numbers (Fibonacci hashing). */
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    private final AtomicReferenceArray<@Nullable ReusablePermit> slots = new AtomicReferenceArray<>(SIZE);

    /** Adds a permit. False if all slots are taken. */
    boolean offer(ReusablePermit permit) {
        int first = firstSlot();
        for (int i = 0; i < SIZE; i++) {
            int slot = (first + i) & (SIZE - 1);
            if (slots.get(slot) == null && slots.compareAndSet(slot, null, permit)) {
                return true;
            }
        }
        return false;
    }

    /** Removes one that matches; null if there is none. */
    @Nullable ReusablePermit poll(Predicate<ReusablePermit> filter) {
        int first = firstSlot();
        for (int i = 0; i < SIZE; i++) {
            int slot = (first + i) & (SIZE - 1);
            ReusablePermit permit = slots.get(slot);
            if (permit != null && filter.test(permit) && slots.compareAndSet(slot, permit, null)) {
                return permit;
            }
        }
        return null;
    }

    /** Removes all that match. */
    List<ReusablePermit> pollAll(Predicate<ReusablePermit> filter) {
        List<ReusablePermit> polled = new ArrayList<>();
        for (int slot = 0; slot < SIZE; slot++) {
            ReusablePermit permit = slots.get(slot);
            if (permit != null && filter.test(permit) && slots.compareAndSet(slot, permit, null)) {
                polled.add(permit);
            }
        }
        return polled;
    }

    /** Whether one matches. */
    boolean has(Predicate<ReusablePermit> filter) {
        for (int slot = 0; slot < SIZE; slot++) {
            ReusablePermit permit = slots.get(slot);
            if (permit != null && filter.test(permit)) {
                return true;
            }
        }
        return false;
    }

    private static int firstSlot() {
        return (int) ((Thread.currentThread().getId() * SPREAD) >>> (Long.SIZE - SIZE_BITS));
    }
}
