package io.dbsemaphore.line;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The virtual times of one semaphore, by which its permits are shared: start-time fair queuing (Goyal, Vin and Cheng, <a
 * href="https://doi.org/10.1145/248156.248171">Start-time Fair Queuing</a>, 1996), with tags at the head of the line. A caller that only
 * joins a line has no tag.
 *
 * <p>The tag of a tenant is its finish, at least the time of the line. A grant of {@code c} permits to weight {@code w} sets the finish to
 * the tag plus {@code c ÷ w}. The time of the line is the largest tag that was granted, as long as no smaller one waits. Within a tenant,
 * its keys share in the same way, with a time of their own.
 *
 * <p>A finish counts as at most {@code capacity ÷ weight} ahead of the time. Therefore a weight that is changed counts for callers that
 * already wait, and wrong finishes do no harm for long. Times are whole numbers of {@link #UNIT}, exact for weights up to 16.
 *
 * <p>{@code ShareTagsTests} tests it. Not thread-safe.
 */
public final class ShareTags {

    /** The virtual time of one permit for a weight of 1. */
    public static final long UNIT = 720_720_000;

    /** Beyond this, times begin again at 0, and are far from an overflow. */
    private static final long MAX_TIME = 1L << 60;

    /**
     * The state of a tenant, or of a key.
     *
     * @param finish the finish of the tenant, or of the key
     * @param ownFinish the finish of the tenant's callers without a key; 0 for a key
     * @param keysTime the time of the tenant's keys; 0 for a key
     */
    public record Finish(long finish, long ownFinish, long keysTime) {

        public static final Finish NONE = new Finish(0, 0, 0);
    }

    /**
     * The smallest and the largest tags of one level, after a decision.
     *
     * @param granted the largest tag that was granted
     * @param waiting the smallest tag of a caller that waits; {@link Long#MAX_VALUE} if none does
     */
    private record Range(long granted, long waiting) {

        /** The time that is reached. A smaller tag that waits, since more permits are withheld for it, holds the time back. */
        private long time(long before) {
            return Math.max(before, Math.min(granted, waiting));
        }
    }

    private long time;
    private final Map<String, Finish> tenants = new HashMap<>();
    private final Map<Share, Long> keys = new HashMap<>();
    private final Set<Share> changed = new HashSet<>();
    private final Map<String, Long> grantedTags = new HashMap<>();
    private long grantedTag = -1;

    /** The time of the line. */
    public long time() {
        return time;
    }

    /** Sets the time. Returns whether it went back, so that all finishes that were known are void. */
    public boolean setTime(long now) {
        boolean isBefore = now < time;
        time = now;
        return isBefore;
    }

    /** Whether the times have to begin again at 0. */
    public boolean isWornOut() {
        return time < 0 || time > MAX_TIME;
    }

    public Finish tenant(String tenant) {
        return tenants.getOrDefault(tenant, Finish.NONE);
    }

    public void setTenant(String tenant, Finish finish) {
        tenants.put(
                tenant,
                finish.keysTime() < 0 || finish.keysTime() > MAX_TIME
                        ? new Finish(finish.finish(), finish.ownFinish(), 0)
                        : finish);
    }

    public long key(Share share) {
        return share.key().isEmpty() ? tenant(share.tenant()).ownFinish() : keys.getOrDefault(share, 0L);
    }

    public void setKey(Share share, long finish) {
        keys.put(share, finish);
    }

    /** Records that the finish of a share is known; it is 0 if it was not read. */
    public void know(Share share) {
        tenants.putIfAbsent(share.tenant(), Finish.NONE);
        if (!share.key().isEmpty()) {
            keys.putIfAbsent(share, 0L);
        }
    }

    /** Forgets the finishes of all other shares. */
    public void retain(Set<Share> shares) {
        Set<String> names = new HashSet<>();
        shares.forEach(share -> names.add(share.tenant()));
        tenants.keySet().retainAll(names);
        keys.keySet().retainAll(shares);
    }

    public void clear() {
        tenants.clear();
        keys.clear();
        time = 0;
    }

    /** Takes over what other tags know. If the time of a tenant's keys has gone back, their finishes that were known are void. */
    public void learn(ShareTags read) {
        time = read.time;
        read.tenants.forEach((tenant, finish) -> {
            if (finish.keysTime() < tenant(tenant).keysTime()) {
                keys.keySet().removeIf(share -> share.tenant().equals(tenant));
            }
        });
        tenants.putAll(read.tenants);
        keys.putAll(read.keys);
    }

    /** The shares whose finishes are known, with those of tenants. */
    public Set<Share> known() {
        Set<Share> known = new HashSet<>(keys.keySet());
        tenants.keySet().forEach(tenant -> known.add(new Share(tenant, "")));
        return known;
    }

    public long tenantTag(Share share, int weight, int capacity) {
        return tag(tenant(share.tenant()).finish(), time, grantedTag, weight, capacity);
    }

    public long keyTag(Share share, int weight, int capacity) {
        String tenant = share.tenant();
        return tag(key(share), tenant(tenant).keysTime(), grantedTags.getOrDefault(tenant, -1L), weight, capacity);
    }

    /** @param granted the largest tag that the decision has granted, to which the time may advance; -1 if none */
    private static long tag(long finish, long time, long granted, int weight, int capacity) {
        return Math.max(time, Math.min(finish, Math.max(time, granted) + cost(capacity, weight)));
    }

    /**
     * Lowers finishes that are further ahead than they count. Otherwise, they would stay as far ahead when the time advances, and the share
     * would starve.
     */
    void limit(Share share, int tenantWeight, int keyWeight, int capacity) {
        Finish tenant = tenant(share.tenant());
        long finish = Math.min(tenant.finish(), time + cost(capacity, tenantWeight));
        long ownFinish = tenant.ownFinish();
        long limit = tenant.keysTime() + cost(capacity, keyWeight);
        if (key(share) > limit) {
            if (share.key().isEmpty()) {
                ownFinish = limit;
            } else {
                keys.put(share, limit);
            }
            changed.add(share);
        }
        if (finish < tenant.finish() || ownFinish < tenant.ownFinish()) {
            tenants.put(share.tenant(), new Finish(finish, ownFinish, tenant.keysTime()));
            changed.add(new Share(share.tenant(), ""));
        }
    }

    /** The virtual time of a grant. */
    public static long cost(int permits, int weight) {
        return permits * UNIT / weight;
    }

    /** The tags of a caller, as an instance knows them; the true tags may be larger. */
    public record Known(long tenantTag, long keyTag) {}

    /** Whether the tags of a caller are those that its instance knew, apart from the times, which advance all callers alike. */
    boolean isAsKnown(Share share, Known known, int tenantWeight, int keyWeight, int capacity) {
        return tenantTag(share, tenantWeight, capacity) <= Math.max(known.tenantTag(), time)
                && keyTag(share, keyWeight, capacity)
                        <= Math.max(known.keyTag(), tenant(share.tenant()).keysTime());
    }

    /**
     * Records a grant. {@link #reach} must follow, after all grants of the decision.
     *
     * @param isAlone whether no other key of the tenant waits. Within a tenant, a grant then counts only if a key is ahead of its time
     */
    public void grant(Share share, int permits, int tenantWeight, int keyWeight, int capacity, boolean isAlone) {
        long tenantTag = tenantTag(share, tenantWeight, capacity);
        long keyTag = keyTag(share, keyWeight, capacity);
        Finish before = tenant(share.tenant());
        long finish = tenantTag + cost(permits, tenantWeight);
        long ownFinish = before.ownFinish();
        if (!isAlone || isAnyKeyAhead(share.tenant())) {
            long keyFinish = keyTag + cost(permits, keyWeight);
            if (share.key().isEmpty()) {
                ownFinish = keyFinish;
            } else {
                keys.put(share, keyFinish);
                changed.add(share);
            }
            grantedTags.merge(share.tenant(), keyTag, Math::max);
        }
        tenants.put(share.tenant(), new Finish(finish, ownFinish, before.keysTime()));
        changed.add(new Share(share.tenant(), ""));
        grantedTag = Math.max(grantedTag, tenantTag);
    }

    /** Whether a key of a tenant is ahead of the time of its keys. */
    public boolean isAnyKeyAhead(String tenant) {
        Finish finish = tenant(tenant);
        return finish.ownFinish() > finish.keysTime()
                || keys.entrySet().stream()
                        .anyMatch(each -> each.getKey().tenant().equals(tenant) && each.getValue() > finish.keysTime());
    }

    /** The shares that were granted. */
    public Set<Share> changed() {
        return changed;
    }

    /**
     * Advances the times after the grants of a decision.
     *
     * @param waiting the smallest tag of a tenant that waits; {@link Long#MAX_VALUE} if none does
     * @param waitingOf likewise the smallest tag of a key, by tenant
     */
    public void reach(long waiting, Map<String, Long> waitingOf) {
        if (grantedTag < 0) {
            return;
        }
        time = new Range(grantedTag, waiting).time(time);
        grantedTags.forEach((tenant, tag) -> {
            Finish before = tenant(tenant);
            long reached = new Range(tag, waitingOf.getOrDefault(tenant, Long.MAX_VALUE)).time(before.keysTime());
            tenants.put(tenant, new Finish(before.finish(), before.ownFinish(), reached));
        });
    }
}
