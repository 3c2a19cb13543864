package io.dbsemaphore.test;

import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import java.util.function.ToIntFunction;

/**
 * Whose turn it is among the callers that wait for a semaphore: start-time fair queuing, first between the tenants, then between the keys
 * of the tenant.
 *
 * <p>The tag of a tenant is the finish of its last grant, or the semaphore's time if that is later. The tenant with the smallest tag is
 * next. A grant moves the time to that tag, and the finish to the tag plus the number of permits divided by the weight. A finish counts as
 * at most the time plus the capacity divided by the weight. The keys of each tenant have finishes, tags and a time of their own. Of two
 * equal tags, that of the earlier caller is next.
 *
 * <p>A share is {@code tenant} or {@code tenant/key}. Callers of the tenant without a key are one key of weight 1. Callers without a share
 * are one tenant, whose name is empty.
 */
final class Turns {

    /** One permit for a weight of 1. Weights up to 16 divide it. */
    static final long UNIT = 720_720_000;

    private static final long LATEST_TIME = 1L << 60;

    private final IntSupplier capacity;
    private final ToIntFunction<String> weights;
    private final Level tenants;

    /** By tenant; the keys are whole shares. */
    private final Map<String, Level> keys = new HashMap<>();

    /**
     * Begins without any grants.
     *
     * @param weights the weight of a tenant or share
     */
    Turns(IntSupplier capacity, ToIntFunction<String> weights) {
        this(capacity, weights, new Level());
    }

    private Turns(IntSupplier capacity, ToIntFunction<String> weights, Level tenants) {
        this.capacity = capacity;
        this.weights = weights;
        this.tenants = tenants;
    }

    Turns copy() {
        Turns copy = new Turns(capacity, weights, tenants.copy());
        keys.forEach((tenant, level) -> copy.keys.put(tenant, level.copy()));
        return copy;
    }

    /**
     * Finds the caller whose turn it is.
     *
     * @param waiting the shares of the callers, at least one, in the order of arrival less head starts; empty for a caller without one
     * @return the index of its share
     */
    int next(List<String> waiting) {
        Map<String, Integer> firstOfTenant = new HashMap<>();
        for (int i = 0; i < waiting.size(); i++) {
            firstOfTenant.merge(
                    tenant(waiting.get(i)),
                    i,
                    (first, later) -> keyTag(waiting.get(later)) < keyTag(waiting.get(first)) ? later : first);
        }
        return Collections.min(
                firstOfTenant.values(),
                Comparator.comparingLong((Integer i) -> tenantTag(tenant(waiting.get(i))))
                        .thenComparing(Comparator.naturalOrder()));
    }

    /** Counts a grant for its share, whether or not it was its turn. */
    void granted(String share, int permits) {
        String tenant = tenant(share);
        tenants.granted(tenant, tenantTag(tenant), permits * UNIT / weight(tenant));
        keysOf(tenant).granted(share, keyTag(share), permits * UNIT / keyWeight(share));
    }

    private long tenantTag(String tenant) {
        return tenants.tag(tenant, capacity.getAsInt() * UNIT / weight(tenant));
    }

    private long keyTag(String share) {
        return keysOf(tenant(share)).tag(share, capacity.getAsInt() * UNIT / keyWeight(share));
    }

    private Level keysOf(String tenant) {
        return keys.computeIfAbsent(tenant, unused -> new Level());
    }

    private int keyWeight(String share) {
        return share.equals(tenant(share)) ? 1 : weight(share);
    }

    private int weight(String share) {
        return share.isEmpty() ? 1 : weights.applyAsInt(share);
    }

    private static String tenant(String share) {
        int slash = share.indexOf('/');
        return slash < 0 ? share : share.substring(0, slash);
    }

    /** The tenants of the semaphore, or the keys of a tenant. */
    private static final class Level {

        private long time;

        /** Those that are later than the time. */
        private final Map<String, Long> finishes = new HashMap<>();

        long tag(String name, long mostAhead) {
            return Math.min(finishes.getOrDefault(name, time), time + mostAhead);
        }

        void granted(String name, long tag, long cost) {
            time = tag;
            finishes.put(name, tag + cost);
            finishes.values().removeIf(finish -> finish <= time);
            if (time > LATEST_TIME) { // sums would overflow
                finishes.clear();
                time = 0;
            }
        }

        Level copy() {
            Level copy = new Level();
            copy.time = time;
            copy.finishes.putAll(finishes);
            return copy;
        }
    }
}
