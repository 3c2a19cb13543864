package io.dbsemaphore.line;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Callers that wait for one semaphore, in the order in which they would be granted permits by their {@linkplain Share shares}: between
 * tenants, the smaller {@linkplain ShareTags tag} comes first, then the earlier caller; within a tenant, the smaller tag of the key, then
 * the earlier caller. Tags of keys of different tenants are not compared.
 *
 * <p>A caller is added and removed in logarithmic time. The entries of a level whose finish is not ahead of the time have the same tag, and
 * are kept apart from those ahead: when the time advances, only the entries that it passes move.
 *
 * <p>{@code ShareLineTests} tests it. Not thread-safe.
 *
 * @param <C> the type of the callers
 */
public final class ShareLine<C> {

    private final ShareTags tags;
    private final ToIntFunction<String> weights;
    private final int capacity;
    private final Function<C, Share> shareOf;
    private final ToIntFunction<C> permitsOf;
    private final Comparator<C> earlier;
    private final Map<String, Tenant> tenants = new HashMap<>();
    private final Level<Tenant> turns;
    private int keys;

    /**
     * Creates an empty line.
     *
     * @param tags the tags; {@link #refresh} has to follow when they change
     * @param weights the weight of a tenant, and of a key by its path; of an empty text, 1
     * @param earlier compares callers by their arrival; never 0
     */
    public ShareLine(
            ShareTags tags,
            ToIntFunction<String> weights,
            int capacity,
            Function<C, Share> shareOf,
            ToIntFunction<C> permitsOf,
            Comparator<C> earlier) {
        this.tags = tags;
        this.weights = weights;
        this.capacity = capacity;
        this.shareOf = shareOf;
        this.permitsOf = permitsOf;
        this.earlier = earlier;
        turns = new Level<>(tags.time());
    }

    /** A tenant, or a key of a tenant, with its tag and its next caller, by which it is sorted. */
    private abstract class Entry {

        long tag;
        int weight;

        @Nullable C next;

        C first() {
            return Objects.requireNonNull(next);
        }

        abstract Iterator<C> callers();
    }

    private final class Key extends Entry {

        private final TreeSet<C> waiting = new TreeSet<>(earlier);

        @Override
        Iterator<C> callers() {
            return waiting.iterator();
        }
    }

    private final class Tenant extends Entry {

        private final String name;
        private final Map<String, Key> keys = new HashMap<>();
        private final Level<Key> turns;

        private Tenant(String name) {
            this.name = name;
            turns = new Level<>(tags.tenant(name).keysTime());
        }

        @Override
        Iterator<C> callers() {
            return turns.inOrder();
        }
    }

    /** The tenants, or the keys of one tenant, in their order. */
    private final class Level<E extends Entry> {

        private final TreeSet<E> current = new TreeSet<>(Comparator.comparing(Entry::first, earlier));
        private final TreeSet<E> ahead =
                new TreeSet<>(Comparator.<E>comparingLong(entry -> entry.tag).thenComparing(Entry::first, earlier));
        private long time;

        private Level(long time) {
            this.time = time;
        }

        private void add(E entry) {
            boolean unused = (entry.tag <= time ? current : ahead).add(entry);
        }

        private void remove(E entry) {
            boolean unused = (entry.tag <= time ? current : ahead).remove(entry);
        }

        private void advance(long now) {
            if (now < time) {
                ahead.addAll(current);
                current.clear();
            }
            time = now;
            while (!ahead.isEmpty() && ahead.first().tag <= time) {
                current.add(Objects.requireNonNull(ahead.pollFirst()));
            }
        }

        private E first() {
            return current.isEmpty() ? ahead.first() : current.first();
        }

        private boolean isEmpty() {
            return current.isEmpty() && ahead.isEmpty();
        }

        private Iterator<E> entries() {
            Iterator<E> those = current.iterator();
            Iterator<E> others = ahead.iterator();
            return new Iterator<>() {
                @Override
                public boolean hasNext() {
                    return those.hasNext() || others.hasNext();
                }

                @Override
                public E next() {
                    return those.hasNext() ? those.next() : others.next();
                }
            };
        }

        private Iterator<C> inOrder() {
            return new Grants(entries(), time);
        }
    }

    /** The callers of a level in the order of their grants, as if each were granted its permits now. */
    private final class Grants implements Iterator<C> {

        private final Iterator<? extends Entry> entries;
        private final long time;
        private final PriorityQueue<Turn> turns = new PriorityQueue<>();
        private @Nullable Turn begins;

        private Grants(Iterator<? extends Entry> entries, long time) {
            this.entries = entries;
            this.time = time;
            begins = nextEntry();
        }

        private @Nullable Turn nextEntry() {
            if (!entries.hasNext()) {
                return null;
            }
            Entry entry = entries.next();
            return new Turn(Math.max(time, entry.tag), entry.weight, entry.callers());
        }

        @Override
        public boolean hasNext() {
            return begins != null || !turns.isEmpty();
        }

        @Override
        public C next() {
            Turn turn = turns.peek();
            if (begins != null && (turn == null || begins.compareTo(turn) < 0)) {
                turn = begins;
                begins = nextEntry();
            } else {
                turn = turns.poll();
            }
            if (turn == null) {
                throw new NoSuchElementException();
            }
            C caller = turn.caller;
            if (turn.isFollowed()) {
                turns.add(turn);
            }
            return caller;
        }
    }

    /** The next caller of a tenant or a key, and its tag. */
    private final class Turn implements Comparable<Turn> {

        private long tag;
        private final int weight;
        private final Iterator<C> callers;
        private C caller;

        private Turn(long tag, int weight, Iterator<C> callers) {
            this.tag = tag;
            this.weight = weight;
            this.callers = callers;
            caller = callers.next();
        }

        private boolean isFollowed() {
            tag += ShareTags.cost(permitsOf.applyAsInt(caller), weight);
            if (!callers.hasNext()) {
                return false;
            }
            caller = callers.next();
            return true;
        }

        @Override
        public int compareTo(Turn other) {
            return tag != other.tag ? Long.compare(tag, other.tag) : earlier.compare(caller, other.caller);
        }
    }

    /** Adds a caller that is not in the line. */
    public void add(C caller) {
        Share share = shareOf.apply(caller);
        Tenant tenant = tenants.get(share.tenant());
        if (tenant == null) {
            tenant = new Tenant(share.tenant());
            tenants.put(share.tenant(), tenant);
        } else {
            turns.remove(tenant);
        }
        Key key = tenant.keys.get(share.key());
        if (key == null) {
            key = new Key();
            tenant.keys.put(share.key(), key);
            keys++;
        } else {
            tenant.turns.remove(key);
        }
        key.waiting.add(caller);
        place(tenant, share, key);
        place(tenant);
    }

    /** Removes a caller. Returns whether it was in the line. */
    public boolean remove(C caller) {
        Share share = shareOf.apply(caller);
        Tenant tenant = tenants.get(share.tenant());
        Key key = tenant == null ? null : tenant.keys.get(share.key());
        if (tenant == null || key == null || !key.waiting.contains(caller)) {
            return false;
        }
        turns.remove(tenant);
        tenant.turns.remove(key);
        key.waiting.remove(caller);
        if (key.waiting.isEmpty()) {
            tenant.keys.remove(share.key());
            keys--;
        } else {
            place(tenant, share, key);
        }
        if (tenant.keys.isEmpty()) {
            tenants.remove(share.tenant());
        } else {
            place(tenant);
        }
        return true;
    }

    private void place(Tenant tenant, Share share, Key key) {
        key.next = key.waiting.first();
        key.weight = weights.applyAsInt(share.keyPath());
        key.tag = tags.keyTag(share, key.weight, capacity);
        tenant.turns.add(key);
    }

    private void place(Tenant tenant) {
        tenant.next = tenant.turns.first().first();
        tenant.weight = weights.applyAsInt(tenant.name);
        tenant.tag = tags.tenantTag(new Share(tenant.name, ""), tenant.weight, capacity);
        turns.add(tenant);
    }

    /** Sorts the line again after the tags of these shares, or the time, have changed. */
    public void refresh(Collection<Share> changed) {
        for (Share share : changed) {
            Tenant tenant = tenants.get(share.tenant());
            if (tenant != null) {
                turns.remove(tenant);
                advance(tenant);
                Key key = tenant.keys.get(share.key());
                if (key != null) {
                    tenant.turns.remove(key);
                    place(tenant, share, key);
                }
                place(tenant);
            }
        }
        turns.advance(tags.time());
    }

    /** The number of keys that have callers. */
    public int keys() {
        return keys;
    }

    private void advance(Tenant tenant) {
        long time = tags.tenant(tenant.name).keysTime();
        boolean isBack = time < tenant.turns.time;
        tenant.turns.advance(time);
        if (isBack) { // the keys' tags were those of another count
            tenant.keys.forEach((name, key) -> {
                tenant.turns.remove(key);
                place(tenant, new Share(tenant.name, name), key);
            });
        }
    }

    /** The shares of the callers. */
    public List<Share> shares() {
        List<Share> shares = new ArrayList<>(keys);
        tenants.forEach((name, tenant) -> tenant.keys.keySet().forEach(key -> shares.add(new Share(name, key))));
        return shares;
    }

    public boolean isEmpty() {
        return turns.isEmpty();
    }

    /** The callers in the order in which they would be granted permits. Invalid after a change of the line. */
    public Iterator<C> inOrder() {
        return turns.inOrder();
    }

    /** The first callers in this order. */
    public List<C> first(int limit) {
        List<C> first = new ArrayList<>();
        for (Iterator<C> callers = inOrder(); callers.hasNext() && first.size() < limit; ) {
            first.add(callers.next());
        }
        return first;
    }
}
