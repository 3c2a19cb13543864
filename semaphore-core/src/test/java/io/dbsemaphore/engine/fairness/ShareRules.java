package io.dbsemaphore.engine.fairness;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * The rules of fair share for one semaphore, without a database: who of the waiting callers is next. A second implementation, as plain as
 * possible, to compare the library with. All callers have a share: where no waiting caller has one, the library counts no grants.
 */
final class ShareRules {

    private static final long UNIT = 720_720_000;

    private final int capacity;
    private final ToLongFunction<String> weights;
    private final Shares tenants = new Shares();
    private final Map<String, Shares> keys = new HashMap<>();
    private final List<Caller> line = new ArrayList<>();
    private final Set<Caller> waited = new HashSet<>();
    private int available;

    /**
     * A caller.
     *
     * @param number its place by arrival
     * @param share its share
     */
    record Caller(int number, String share, int permits) {

        private String tenant() {
            int slash = share.indexOf('/');
            return slash < 0 ? share : share.substring(0, slash);
        }
    }

    /** What the tenants have got, or the keys of a tenant. */
    private final class Shares {

        private final Map<String, Long> finishes = new HashMap<>();
        private long time;

        private long tag(String share, long weight) {
            long finish = Math.min(finishes.getOrDefault(share, 0L), time + capacity * UNIT / weight);
            return Math.max(finish, time);
        }

        private boolean isAnyAhead() {
            return finishes.values().stream().anyMatch(finish -> finish > time);
        }

        private void count(String share, long weight, int permits) {
            long tag = tag(share, weight);
            time = Math.max(time, tag);
            finishes.put(share, tag + permits * UNIT / weight);
        }
    }

    /**
     * A line in which nobody waits.
     *
     * @param weights the weight of each share
     */
    ShareRules(int capacity, ToLongFunction<String> weights) {
        this.capacity = capacity;
        this.weights = weights;
        available = capacity;
    }

    int waiting() {
        return line.size();
    }

    /** A caller comes. Returns those who are granted their permits then, in the order of the grants. */
    List<Caller> join(Caller caller) {
        line.add(caller);
        return decide();
    }

    /** Permits are released. Returns those who are granted their permits then, in the order of the grants. */
    List<Caller> release(int permits) {
        available += permits;
        return decide();
    }

    /** Callers come while all permits are held. */
    void joinAll(Collection<Caller> callers) {
        line.addAll(callers);
        if (!decide().isEmpty()) {
            throw new IllegalStateException("Permits are available");
        }
    }

    /** A caller that waits no longer, while all permits are held. */
    void leave(Caller caller) {
        line.remove(caller);
        waited.remove(caller);
    }

    private List<Caller> decide() {
        List<Caller> granted = new ArrayList<>();
        Optional<Caller> next = next();
        while (next.isPresent() && next.get().permits() <= available) {
            grant(next.get());
            granted.add(next.get());
            next = next();
        }
        waited.addAll(line);
        return granted;
    }

    private void grant(Caller caller) {
        line.remove(caller);
        available -= caller.permits();
        boolean hasShares = !caller.share().isEmpty()
                || line.stream().anyMatch(other -> !other.share().isEmpty());
        if ((waited.remove(caller) || !line.isEmpty()) && hasShares) { // somebody waited before, or does now
            String tenant = caller.tenant();
            tenants.count(tenant, weightOf(tenant), caller.permits());
            boolean isAlone = line.stream()
                    .noneMatch(other ->
                            other.tenant().equals(tenant) && !other.share().equals(caller.share()));
            if (!isAlone || keysOf(tenant).isAnyAhead()) {
                keysOf(tenant).count(caller.share(), weightOfKey(caller), caller.permits());
            }
        }
    }

    /** The first caller of each tenant is the one with the smallest tag among its keys; between tenants their own tags count. */
    Optional<Caller> next() {
        Map<String, Caller> firstOfTenant = new HashMap<>();
        line.forEach(caller -> firstOfTenant.merge(
                caller.tenant(), caller, (one, other) -> byKey().compare(one, other) <= 0 ? one : other));
        return firstOfTenant.values().stream()
                .min(Comparator.<Caller>comparingLong(caller -> tenants.tag(caller.tenant(), weightOf(caller.tenant())))
                        .thenComparingInt(Caller::number));
    }

    private Comparator<Caller> byKey() {
        return Comparator.<Caller>comparingLong(
                        caller -> keysOf(caller.tenant()).tag(caller.share(), weightOfKey(caller)))
                .thenComparingInt(Caller::number);
    }

    private Shares keysOf(String tenant) {
        return keys.computeIfAbsent(tenant, added -> new Shares());
    }

    private long weightOf(String tenant) {
        return weights.applyAsLong(tenant);
    }

    /** Among the keys of a tenant, the callers without a key are one more of weight 1. */
    private long weightOfKey(Caller caller) {
        return caller.share().equals(caller.tenant()) ? 1 : weights.applyAsLong(caller.share());
    }
}
