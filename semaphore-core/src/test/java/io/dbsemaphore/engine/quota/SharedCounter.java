package io.dbsemaphore.engine.quota;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Counts who is at work, over several processes and outside of any database: numbers in a file that all of them have mapped into
 * memory. Each process counts in a slot of its own, so that those of a process that was killed or suspended can be cleared.
 *
 * <p>Each time that it is cleared, a slot begins another epoch. Whoever has come in an earlier one is no longer counted.
 */
final class SharedCounter {

    private static final VarHandle LONG = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private static final int SLOTS = 4;
    private static final int BITS = Long.SIZE / SLOTS;
    private static final long MASK = (1L << BITS) - 1;

    /** Of a slot; its epoch is above. */
    private static final int COUNT_BITS = 10;

    private static final long COUNT_MASK = (1L << COUNT_BITS) - 1;

    /** The epochs and numbers of all slots, so that one step changes one of them and reads all. */
    private static final int CURRENT = 0;

    private static final int PEAK = 64;
    private static final int COUNTED = PEAK + 64;
    private static final int IN_THREE_SLOTS = COUNTED + 64;
    private static final int TOTALS = IN_THREE_SLOTS + 64;
    private static final int REFUSALS = TOTALS + SLOTS * 64;
    private static final int SIZE = REFUSALS + SLOTS * 64;

    private final MappedByteBuffer memory;
    private final int slot;

    SharedCounter(Path file, int slot) {
        this.slot = slot;
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE)) {
            memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, SIZE);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** The present epoch of this slot. */
    int epoch() {
        return epoch((long) LONG.getVolatile(memory, CURRENT));
    }

    /** Adds so many, and remembers the most there ever were in all slots together. */
    void enter(int count) {
        enter(count, epoch());
    }

    /** Does the same if the epoch is still this one. */
    void enter(int count, int epoch) {
        long current = (long) LONG.getVolatile(memory, CURRENT);
        while (epoch(current) == epoch) {
            long next = current + ((long) count << (slot * BITS));
            if (LONG.compareAndSet(memory, CURRENT, current, next)) {
                entered(next);
                return;
            }
            current = (long) LONG.getVolatile(memory, CURRENT);
        }
    }

    private void entered(long current) {
        int slots = 0;
        long sum = 0;
        for (int each = 0; each < SLOTS; each++) {
            long count = (current >>> (each * BITS)) & COUNT_MASK;
            sum += count;
            slots += count > 0 ? 1 : 0;
        }
        long peak = (long) LONG.getVolatile(memory, PEAK);
        while (sum > peak && !LONG.compareAndSet(memory, PEAK, peak, sum)) {
            peak = (long) LONG.getVolatile(memory, PEAK);
        }
        add(COUNTED, 1);
        if (slots == 3) {
            add(IN_THREE_SLOTS, 1);
        }
    }

    void leave(int count) {
        leave(count, epoch());
    }

    /** Takes those back that have entered in this epoch, if it is still the present one. */
    void leave(int count, int epoch) {
        long current = (long) LONG.getVolatile(memory, CURRENT);
        while (epoch(current) == epoch
                && !LONG.compareAndSet(memory, CURRENT, current, current - ((long) count << (slot * BITS)))) {
            current = (long) LONG.getVolatile(memory, CURRENT);
        }
    }

    /** Adds uses, whether they were counted while they lasted or not. */
    void addUses(long uses) {
        add(TOTALS + slot * 64, uses);
    }

    /** Adds a caller that was refused. */
    void refuse() {
        add(REFUSALS + slot * 64, 1);
    }

    private void add(int offset, long number) {
        long unused = (long) LONG.getAndAdd(memory, offset, number);
    }

    /** The number of callers at work in the process of this slot. */
    int current() {
        return (int) (((long) LONG.getVolatile(memory, CURRENT) >>> (slot * BITS)) & COUNT_MASK);
    }

    /** Begins another epoch: nobody is at work in the process of this slot any more, which was killed or suspended. */
    void clear() {
        long current = (long) LONG.getVolatile(memory, CURRENT);
        while (!LONG.compareAndSet(memory, CURRENT, current, inNextEpoch(current))) {
            current = (long) LONG.getVolatile(memory, CURRENT);
        }
    }

    private long inNextEpoch(long current) {
        long next = ((epoch(current) + 1L) << COUNT_BITS) & MASK;
        return (current & ~(MASK << (slot * BITS))) | (next << (slot * BITS));
    }

    private int epoch(long current) {
        return (int) (((current >>> (slot * BITS)) & MASK) >>> COUNT_BITS);
    }

    int peak() {
        return (int) (long) LONG.getVolatile(memory, PEAK);
    }

    /** How often anybody entered, in all processes. */
    long counted() {
        return (long) LONG.getVolatile(memory, COUNTED);
    }

    /** How often that made it three processes that were at work at once. */
    long countedInThreeSlots() {
        return (long) LONG.getVolatile(memory, IN_THREE_SLOTS);
    }

    /** The number of uses, in all processes. */
    long uses() {
        return sumFrom(TOTALS);
    }

    /** The number of callers that were refused, in all processes. */
    long refusals() {
        return sumFrom(REFUSALS);
    }

    private long sumFrom(int offset) {
        long sum = 0;
        for (int each = 0; each < SLOTS; each++) {
            sum += (long) LONG.getVolatile(memory, offset + each * 64);
        }
        return sum;
    }
}
