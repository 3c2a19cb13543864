package io.dbsemaphore.line;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToIntBiFunction;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The turns of the callers of one semaphore with shares, in the transaction that has locked its row: the {@linkplain ShareOrder order} by
 * the tags that the transaction has read, and the tags after its grants.
 *
 * <p>An instance with more keys than it records decides by tags that may be out of date: the true ones may be larger. A caller is granted
 * permits only if its own tags are those that its instance knew when it chose the caller: a key that the transaction does not know cannot
 * come before it. Other callers are refused, and their instance, which then knows their tags, chooses again at once.
 */
public final class ShareTurns {

    private final ShareTags tags;
    private final ToIntFunction<String> weights;
    private final int capacity;
    private final boolean isWindowOpen;
    private final long instance;
    private final LineHead own;
    private final List<ShareOrder.Candidate> candidates = new ArrayList<>();
    private final Set<Object> verified = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<Object> granted = Collections.newSetFromMap(new IdentityHashMap<>());
    private final ShareOrder order;

    /**
     * Begins a decision.
     *
     * @param tags the tags of all these callers, as read by the transaction
     * @param own the callers of this instance that are not decided
     * @param members the callers to be decided that stand in the line, by the object that identifies them
     * @param known what this instance knew of the members' tags when it chose them; nothing for those that had not waited
     */
    public ShareTurns(
            ShareTags tags,
            ToIntBiFunction<String, String> weights,
            String name,
            int capacity,
            boolean isWindowOpen,
            LineHead own,
            Map<Object, Waiter> members,
            Map<Object, ShareTags.Known> known,
            WaitersElsewhere elsewhere,
            long instance) {
        this.tags = tags;
        this.capacity = capacity;
        this.isWindowOpen = isWindowOpen;
        this.instance = instance;
        this.own = own;
        members.forEach((caller, waiter) -> addCandidate(caller, waiter));
        own.first().forEach(waiter -> addCandidate(waiter, waiter));
        this.weights = ShareOrder.weights(
                candidates, elsewhere, share -> share.isEmpty() ? 1 : weights.applyAsInt(name, share));
        members.forEach((caller, waiter) -> {
            if (!own.hidesKeys() || isAsKnown(waiter, known.get(caller))) {
                verified.add(caller);
            }
        });
        candidates.forEach(each -> limit(each.waiter()));
        elsewhere.queues().forEach(queue -> queue.first().forEach(this::limit));
        order = new ShareOrder(candidates, elsewhere, tags, this.weights, capacity, isWindowOpen);
    }

    private void limit(Waiter waiter) {
        Share share = waiter.share();
        tags.limit(share, weights.applyAsInt(share.tenant()), weights.applyAsInt(share.keyPath()), capacity);
    }

    private void addCandidate(Object caller, Waiter waiter) {
        candidates.add(new ShareOrder.Candidate(caller, waiter, instance, candidates.size()));
    }

    private boolean isAsKnown(Waiter waiter, ShareTags.@Nullable Known known) {
        Share share = waiter.share();
        return waiter.ofSeveral()
                || (known != null
                        && tags.isAsKnown(
                                share,
                                known,
                                weights.applyAsInt(share.tenant()),
                                weights.applyAsInt(share.keyPath()),
                                capacity));
    }

    /** The place of a caller in this order; behind all others if it does not stand in the line. */
    public Place placeOf(Object caller) {
        Place place = order.placeOf(caller);
        return place == null ? Place.LAST : place;
    }

    /** The line as seen from a caller; null if it does not stand in the line. */
    public @Nullable LineAhead lineOf(Object caller) {
        Place place = order.placeOf(caller);
        if (place == null) {
            return null;
        }
        long permits = 0;
        long ofSeveral = 0;
        int callers = 0;
        for (Waiter each : own.first()) {
            Place other = order.placeOf(each);
            if (other != null && other.compareTo(place) < 0) {
                Demand demand = each.demand(capacity);
                permits += demand.permits();
                ofSeveral += demand.ofSeveral();
                callers++;
            }
        }
        return new LineAhead(new Demand(permits, ofSeveral, callers), order.elsewhere(), place, isWindowOpen);
    }

    /** Whether no caller that the transaction does not know comes before this one. */
    public boolean isVerified(Object caller) {
        return order.placeOf(caller) == null || verified.contains(caller);
    }

    /** Records a grant. */
    public void grant(Object caller, Share share, int permits) {
        granted.add(caller);
        boolean isAlone = !own.hidesKeys();
        for (ShareOrder.Candidate each : order.inOrder()) {
            Share other = each.waiter().share();
            isAlone &= granted.contains(each.caller()) || !other.tenant().equals(share.tenant()) || other.equals(share);
        }
        tags.grant(
                share,
                Math.max(1, permits),
                weights.applyAsInt(share.tenant()),
                weights.applyAsInt(share.keyPath()),
                capacity,
                isAlone);
    }

    /** The tags after all grants of the decision. */
    public ShareTags tagsAfter() {
        long waiting = Long.MAX_VALUE;
        Map<String, Long> waitingOf = new HashMap<>();
        for (ShareOrder.Candidate each : order.inOrder()) {
            if (!granted.contains(each.caller()) && !each.waiter().ofSeveral()) {
                Share share = each.waiter().share();
                waiting = Math.min(waiting, tags.tenantTag(share, weights.applyAsInt(share.tenant()), capacity));
                waitingOf.merge(
                        share.tenant(), tags.keyTag(share, weights.applyAsInt(share.keyPath()), capacity), Math::min);
            }
        }
        tags.reach(waiting, waitingOf);
        return tags;
    }

    /** The shares of all these callers. */
    public Set<Share> shares() {
        Set<Share> shares = new HashSet<>();
        order.inOrder().forEach(each -> shares.add(each.waiter().share()));
        return shares;
    }

    /**
     * The callers of this instance that wait after the decision, in their order.
     *
     * @param refused the refused callers that wait from now on, with those of the batch that go on waiting
     */
    public LineHead headWith(List<Waiter> refused) {
        List<Waiter> all = new ArrayList<>(own.first());
        all.addAll(refused);
        long since = own.since();
        for (Waiter each : refused) {
            since = Math.min(since, each.arrival());
        }
        ShareLine<ShareOrder.Candidate> line = ShareOrder.lineOf(tags, weights, capacity);
        List<Waiter> several = new ArrayList<>();
        long ticket = 0;
        for (Waiter each : all) {
            if (each.ofSeveral()) {
                several.add(each);
            } else {
                line.add(new ShareOrder.Candidate(each, each, instance, ticket++));
            }
        }
        several.sort(Comparator.comparing(Waiter::place));
        List<Waiter> first = new ArrayList<>(several.subList(0, Math.min(several.size(), LineHead.MAX_OF_SEVERAL)));
        Iterator<ShareOrder.Candidate> inOrder = line.inOrder();
        LineHead.choose(inOrder, each -> each.waiter().share()).forEach(each -> first.add(each.waiter()));
        Set<Share> shares = new HashSet<>();
        all.forEach(each -> shares.add(each.share()));
        first.forEach(each -> shares.remove(each.share()));
        Map<Share, Integer> byShare = new HashMap<>(own.byShare());
        if (!byShare.isEmpty()) {
            refused.forEach(each -> byShare.merge(each.share(), 1, Integer::sum));
        }
        return new LineHead(
                first, own.size() + refused.size(), since, true, own.hidesKeys() || !shares.isEmpty(), byShare);
    }
}
