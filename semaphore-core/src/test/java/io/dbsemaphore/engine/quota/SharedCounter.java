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
 * Counts who is at work, over several processes and outside of any database: two numbers in a file that all of them have mapped
 * into memory.
 */
final class SharedCounter {

    private static final VarHandle INT = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

    private static final int CURRENT = 0;
    private static final int PEAK = 64;
    private static final int SIZE = 128;

    private final MappedByteBuffer memory;

    SharedCounter(Path file) {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE)) {
            memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, SIZE);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Adds so many, and remembers the most there ever were. */
    void enter(int count) {
        int current = (int) INT.getAndAdd(memory, CURRENT, count) + count;
        int peak = (int) INT.getVolatile(memory, PEAK);
        while (current > peak && !INT.compareAndSet(memory, PEAK, peak, current)) {
            peak = (int) INT.getVolatile(memory, PEAK);
        }
    }

    void leave(int count) {
        int unused = (int) INT.getAndAdd(memory, CURRENT, -count);
    }

    int peak() {
        return (int) INT.getVolatile(memory, PEAK);
    }
}
