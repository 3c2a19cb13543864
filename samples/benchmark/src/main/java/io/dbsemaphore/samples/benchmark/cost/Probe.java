package io.dbsemaphore.samples.benchmark.cost;

import java.time.Duration;
import java.util.Collection;

/**
 * One thread that acquires and releases, of each variant in turn: what else the machine does meets all alike.
 *
 * @param rounds how many rounds
 * @param length how long one round of one variant is
 */
public record Probe(int rounds, Duration length) {

    void measure(Collection<Variant> variants) throws Exception {
        warmUp(variants);
        for (int round = 0; round < rounds; round++) {
            round(variants, length);
        }
    }

    void warmUp(Collection<Variant> variants) throws Exception {
        round(variants, length.dividedBy(2));
        variants.forEach(Variant::forget);
    }

    void round(Collection<Variant> variants, Duration each) throws Exception {
        variants.forEach(Variant::beginRound);
        long end = System.nanoTime() + each.multipliedBy(variants.size()).toNanos();
        do {
            for (Variant variant : variants) {
                variant.pair();
            }
        } while (System.nanoTime() - end < 0);
    }
}
