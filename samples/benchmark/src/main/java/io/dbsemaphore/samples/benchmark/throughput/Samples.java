package io.dbsemaphore.samples.benchmark.throughput;

import java.io.Serializable;
import java.util.Arrays;
import java.util.Collection;

/** Durations in nanoseconds. To be used by one thread at a time. */
public final class Samples implements Serializable {

    private static final long serialVersionUID = 1;

    private long[] nanos = new long[1024];
    private int size;

    /** Adds one. */
    public void add(long duration) {
        if (size == nanos.length) {
            nanos = Arrays.copyOf(nanos, Math.max(1024, size * 2));
        }
        nanos[size++] = duration;
    }

    /** All of these as one. */
    public static Samples merge(Collection<Samples> parts) {
        Samples all = new Samples();
        all.nanos = parts.stream()
                .flatMapToLong(part -> Arrays.stream(part.nanos, 0, part.size))
                .toArray();
        all.size = all.nanos.length;
        return all;
    }

    /** How these are distributed. */
    public Percentiles percentiles() {
        return Percentiles.of(toArray());
    }

    /** All of them. */
    long[] toArray() {
        return Arrays.copyOf(nanos, size);
    }
}
