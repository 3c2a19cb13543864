package io.dbsemaphore.engine.batch;

import io.dbsemaphore.line.Share;
import io.dbsemaphore.line.ShareTags;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The rules of fair share for one semaphore, as plain as possible: who of some callers is next, and what grants count. */
final class ModelShares {

    private static final long UNIT = 720_720_000;

    private static final Map<String, Integer> WEIGHTS = Map.of("a", 2, "b", 3, "a/x", 4, "b/x", 7, "c/x", 5);

    /** The shares of a schedule's callers; the first one is none. */
    static final List<String> SHARES = List.of("", "a", "a/x", "a/y", "b/x", "b/y", "c", "c/x", "d");

    /** A caller, identified by an object. */
    record Caller(Object id, Share share, long place, long instance, long ticket, int permits, boolean ofSeveral) {

        static final Comparator<Caller> EARLIER = Comparator.comparingLong(Caller::place)
                .thenComparingLong(Caller::instance)
                .thenComparingLong(Caller::ticket);
    }

    private final int capacity;
    private long time;
    private long granted = -1;
    private final Map<String, Long> tenants = new HashMap<>();
    private final Map<String, Long> keysTimes = new HashMap<>();
    private final Map<String, Long> grantedOf = new HashMap<>();
    private final Map<Share, Long> keys = new HashMap<>();

    ModelShares(int capacity) {
        this.capacity = capacity;
    }

    static int weight(String path) {
        return WEIGHTS.getOrDefault(path, 1);
    }

    long time() {
        return time;
    }

    private ModelShares copy() {
        ModelShares copy = new ModelShares(capacity);
        copy.time = time;
        copy.tenants.putAll(tenants);
        copy.keysTimes.putAll(keysTimes);
        copy.keys.putAll(keys);
        return copy;
    }

    private static long cost(int permits, String path) {
        return permits * UNIT / weight(path);
    }

    private long keysTime(String tenant) {
        return keysTimes.getOrDefault(tenant, 0L);
    }

    private static long tag(long finish, long now, long grantedTag, long mostAhead) {
        return Math.max(now, Math.min(finish, Math.max(now, grantedTag) + mostAhead));
    }

    long tenantTag(Share share) {
        return tag(tenants.getOrDefault(share.tenant(), 0L), time, granted, cost(capacity, share.tenant()));
    }

    private long keyTag(Share share) {
        return tag(
                keys.getOrDefault(share, 0L),
                keysTime(share.tenant()),
                grantedOf.getOrDefault(share.tenant(), -1L),
                cost(capacity, share.keyPath()));
    }

    /** How far a key is ahead of the time of its tenant's keys. */
    long keyAhead(Share share) {
        return keyTag(share) - keysTime(share.tenant());
    }

    /** A decision begins. */
    void begin() {
        granted = -1;
        grantedOf.clear();
    }

    /** What is further ahead than it counts is lowered. */
    void limit(Share share) {
        tenants.computeIfPresent(
                share.tenant(), (name, finish) -> Math.min(finish, time + cost(capacity, share.tenant())));
        keys.computeIfPresent(
                share, (name, finish) -> Math.min(finish, keysTime(share.tenant()) + cost(capacity, share.keyPath())));
    }

    /** The callers in the order of their turns; those of several semaphores stand before or behind all others. */
    List<Caller> inOrder(Collection<Caller> callers, boolean isWindowOpen) {
        List<Caller> several = callers.stream()
                .filter(Caller::ofSeveral)
                .sorted(Caller.EARLIER)
                .toList();
        List<Caller> left = new ArrayList<>(
                callers.stream().filter(each -> !each.ofSeveral()).toList());
        List<Caller> order = new ArrayList<>(isWindowOpen ? several : List.of());
        ModelShares copy = copy();
        left.forEach(each -> copy.limit(each.share()));
        while (!left.isEmpty()) {
            Caller next = copy.next(left);
            left.remove(next);
            order.add(next);
            copy.grant(next.share(), next.permits(), left);
            copy.end(List.of());
            copy.begin();
        }
        order.addAll(isWindowOpen ? List.of() : several);
        return order;
    }

    private Caller next(List<Caller> left) {
        Comparator<Caller> byKey =
                Comparator.<Caller>comparingLong(each -> keyTag(each.share())).thenComparing(Caller.EARLIER);
        Map<String, Caller> firstOf = new HashMap<>();
        left.forEach(each -> firstOf.merge(
                each.share().tenant(), each, (one, other) -> byKey.compare(one, other) < 0 ? one : other));
        return firstOf.values().stream()
                .min(Comparator.<Caller>comparingLong(each -> tenantTag(each.share()))
                        .thenComparing(Caller.EARLIER))
                .orElseThrow();
    }

    /** Counts a grant, beside these callers that wait. {@link #end} follows after the grants of one decision. */
    void grant(Share share, int permits, Collection<Caller> waiting) {
        String tenant = share.tenant();
        long tag = tenantTag(share);
        boolean counts = waiting.stream()
                        .anyMatch(each -> each.share().tenant().equals(tenant)
                                && !each.share().equals(share))
                || keys.entrySet().stream()
                        .anyMatch(each -> each.getKey().tenant().equals(tenant) && each.getValue() > keysTime(tenant));
        if (counts) {
            long keyTag = keyTag(share);
            keys.put(share, keyTag + cost(permits, share.keyPath()));
            grantedOf.merge(tenant, keyTag, Math::max);
        }
        tenants.put(tenant, tag + cost(permits, tenant));
        granted = Math.max(granted, tag);
    }

    /** The times reach the largest tag that was granted, unless a smaller one waits. */
    void end(Collection<Caller> waiting) {
        if (granted < 0) {
            return;
        }
        List<Share> shares = waiting.stream()
                .filter(each -> !each.ofSeveral())
                .map(Caller::share)
                .toList();
        long least = shares.stream().mapToLong(this::tenantTag).min().orElse(Long.MAX_VALUE);
        Map<String, Long> leastOf = new HashMap<>();
        shares.forEach(each -> leastOf.merge(each.tenant(), keyTag(each), Math::min));
        time = Math.max(time, Math.min(granted, least));
        grantedOf.forEach((tenant, tag) -> keysTimes.merge(
                tenant, Math.max(0, Math.min(tag, leastOf.getOrDefault(tenant, Long.MAX_VALUE))), Math::max));
    }

    /** Takes over what an answer of the database says. */
    void learn(ShareTags read) {
        if (read.time() < time) {
            tenants.clear();
            keysTimes.clear();
            keys.clear();
        }
        time = read.time();
        for (Share share : read.known()) {
            String tenant = share.tenant();
            if (read.tenant(tenant).keysTime() < keysTime(tenant)) {
                keys.keySet().removeIf(each -> each.tenant().equals(tenant));
            }
            tenants.put(tenant, read.tenant(tenant).finish());
            keysTimes.put(tenant, read.tenant(tenant).keysTime());
            keys.put(share, read.key(share));
        }
    }

    /** Forgets all other shares. */
    void retain(Set<Share> shares) {
        Set<String> names = new HashSet<>();
        shares.forEach(each -> names.add(each.tenant()));
        tenants.keySet().retainAll(names);
        keysTimes.keySet().retainAll(names);
        keys.keySet().removeIf(each -> each.key().isEmpty() ? !names.contains(each.tenant()) : !shares.contains(each));
    }
}
