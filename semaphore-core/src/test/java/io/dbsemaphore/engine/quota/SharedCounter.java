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
 * memory. Each process counts in a slot of its own, so that those of a process that was killed can be cleared.
 */
final class SharedCounter {

    private static final VarHandle LONG = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private static final int SLOTS = 4;
    private static final int BITS = Long.SIZE / SLOTS;
    private static final long MASK = (1L << BITS) - 1;

    /** The numbers of all slots, so that one step changes one of them and reads all. */
    private static final int CURRENT = 0;

    private static final int PEAK = 64;
    private static final int TOTALS = 128;
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

    /** Adds so many, and remembers the most there ever were in all slots together. */
    void enter(int count) {
        long added = (long) count << (slot * BITS);
        long current = sum((long) LONG.getAndAdd(memory, CURRENT, added) + added);
        long peak = (long) LONG.getVolatile(memory, PEAK);
        while (current > peak && !LONG.compareAndSet(memory, PEAK, peak, current)) {
            peak = (long) LONG.getVolatile(memory, PEAK);
        }
        long unused = (long) LONG.getAndAdd(memory, TOTALS + slot * 64, 1L);
    }

    void leave(int count) {
        long unused = (long) LONG.getAndAdd(memory, CURRENT, -((long) count << (slot * BITS)));
    }

    /** Counts a caller that was refused. */
    void refuse() {
        long unused = (long) LONG.getAndAdd(memory, REFUSALS + slot * 64, 1L);
    }

    /** The number of callers at work in the process of this slot. */
    int current() {
        return (int) (((long) LONG.getVolatile(memory, CURRENT) >>> (slot * BITS)) & MASK);
    }

    /** Nobody is at work in the process of this slot any more, which was killed. */
    void clear() {
        long current = (long) LONG.getVolatile(memory, CURRENT);
        while (!LONG.compareAndSet(memory, CURRENT, current, current & ~(MASK << (slot * BITS)))) {
            current = (long) LONG.getVolatile(memory, CURRENT);
        }
    }

    private static long sum(long current) {
        long sum = 0;
        for (int each = 0; each < SLOTS; each++) {
            sum += (current >>> (each * BITS)) & MASK;
        }
        return sum;
    }

    int peak() {
        return (int) (long) LONG.getVolatile(memory, PEAK);
    }

    /** How often anybody began to work, in all processes. */
    long total() {
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
