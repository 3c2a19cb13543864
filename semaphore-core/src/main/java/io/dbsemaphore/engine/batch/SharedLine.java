package io.dbsemaphore.engine.batch;

import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.Demand;
import io.dbsemaphore.line.LineAhead;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.Place;
import io.dbsemaphore.line.Share;
import io.dbsemaphore.line.ShareLine;
import io.dbsemaphore.line.ShareOrder;
import io.dbsemaphore.line.ShareTags;
import io.dbsemaphore.line.Waiter;
import io.dbsemaphore.line.WaitersElsewhere;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The order of the callers of this JVM that wait for a semaphore with shares, as far as their {@linkplain ShareTags tags} are known: from the
 * answers of batches and polls. The transaction that decides reads the tags again.
 *
 * <p>A caller that is being tried keeps its turn until it is answered: otherwise the next caller of its key would take the same turn. One
 * that is refused waits again.
 *
 * <p>Only the first callers are compared with those of other instances. The comparison is made anew when a caller comes or leaves, or an
 * answer has arrived.
 *
 * <p>{@code SharedLineTests} tests it.
 */
final class SharedLine {

    /** How often all keys are sorted again by their weights, which may have changed. */
    private static final long SORTED_EVERY = Duration.ofSeconds(10).toNanos();

    /** The number of keys that one answer sorts again. */
    private static final int SORTED_AT_ONCE = 256;

    private final String name;
    private final ToIntFunction<String> weights;
    private final ShareTags tags = new ShareTags();
    private final TreeSet<Acquire> ofSeveral = new TreeSet<>(Acquire.IN_ORDER);
    private final Set<Acquire> tried = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<Acquire> beforeHidden = Collections.newSetFromMap(new IdentityHashMap<>());
    private Map<String, Integer> weightsElsewhere = Map.of();
    private WaitersElsewhere elsewhere = WaitersElsewhere.NONE;
    private ShareLine<Acquire> line;
    private int capacity = 1;
    private final Deque<Share> toSort = new ArrayDeque<>();
    private long sortedAt;
    private boolean hidesKeys;
    private @Nullable View view;

    /** @param weights the weight of a share of this semaphore, as this instance knows it */
    SharedLine(String name, ToIntFunction<String> weights) {
        this.name = name;
        this.weights = weights;
        line = empty();
    }

    private ShareLine<Acquire> empty() {
        return new ShareLine<>(
                tags,
                share -> Math.max(
                        share.isEmpty() ? 1 : weights.applyAsInt(share), weightsElsewhere.getOrDefault(share, 1)),
                capacity,
                Acquire::share,
                acquire -> askOf(acquire).needs(capacity),
                Acquire.IN_ORDER);
    }

    private Ask askOf(Acquire acquire) {
        return Objects.requireNonNull(acquire.charges().get(name));
    }

    /** The first callers of this instance, with those that are being tried, among those of all instances. */
    private final class View {

        private final boolean isWindowOpen;
        private final List<Acquire> own = new ArrayList<>();
        private final Map<Acquire, Integer> indexes = new IdentityHashMap<>();

        /** Null if nobody waits in other instances. */
        private final @Nullable ShareOrder order;

        private View(boolean isWindowOpen) {
            this.isWindowOpen = isWindowOpen;
            List<Acquire> several = ofSeveral.stream()
                    .limit(LineHead.MAX_OF_SEVERAL + tried.size())
                    .toList();
            List<Acquire> first = new ArrayList<>(isWindowOpen ? several : List.of());
            first.addAll(line.first(LineHead.MAX_WITH_SHARES + tried.size()));
            first.addAll(isWindowOpen ? List.of() : several);
            order = elsewhere.isEmpty() ? null : orderAmongAll(first, isWindowOpen);
            if (order == null) {
                first.forEach(this::add);
            } else {
                order.inOrder().forEach(each -> {
                    if (each.caller() instanceof Acquire acquire) {
                        add(acquire);
                    }
                });
            }
        }

        private void add(Acquire acquire) {
            indexes.put(acquire, own.size());
            own.add(acquire);
        }

        private WaitersElsewhere others() {
            return order == null ? elsewhere : order.elsewhere();
        }

        /** The place of an acquire among all callers; null if it is not among the first. */
        private @Nullable Place placeOf(Acquire acquire) {
            if (order != null) {
                return order.placeOf(acquire);
            }
            return indexes.containsKey(acquire) ? acquire.place() : null;
        }

        private @Nullable Acquire next(int from, boolean ofOne) {
            for (int i = from; i < own.size(); i++) {
                Acquire each = own.get(i);
                if (!tried.contains(each) && !(ofOne && each.isOfSeveral())) {
                    return each;
                }
            }
            return null;
        }

        /** The callers of this instance before one of them. */
        private List<Acquire> before(Acquire acquire) {
            return own.subList(0, Objects.requireNonNull(indexes.get(acquire)));
        }
    }

    private ShareOrder orderAmongAll(List<Acquire> first, boolean isWindowOpen) {
        List<ShareOrder.Candidate> candidates = first.stream()
                .map(acquire -> new ShareOrder.Candidate(
                        acquire, acquire.toWaiter(name), elsewhere.instance(), acquire.ticket()))
                .toList();
        return new ShareOrder(
                candidates,
                elsewhere,
                tags,
                ShareOrder.weights(candidates, elsewhere, share -> share.isEmpty() ? 1 : weights.applyAsInt(share)),
                capacity,
                isWindowOpen);
    }

    private View view(boolean isWindowOpen) {
        View present = view;
        if (present == null || present.isWindowOpen != isWindowOpen) {
            present = new View(isWindowOpen);
            view = present;
        }
        return present;
    }

    private void forgetAnswered() {
        for (Iterator<Acquire> each = tried.iterator(); each.hasNext(); ) {
            Acquire acquire = each.next();
            if (acquire.stage() == Acquire.Stage.DONE) {
                each.remove();
                leave(acquire);
            }
        }
    }

    private void leave(Acquire acquire) {
        boolean unused = acquire.isOfSeveral() ? ofSeveral.remove(acquire) : line.remove(acquire);
        view = null;
    }

    /** Adds a caller, which may have been tried. */
    void add(Acquire acquire) {
        if (!tried.remove(acquire)) {
            if (acquire.isOfSeveral()) {
                ofSeveral.add(acquire);
            } else {
                line.add(acquire);
            }
        }
        view = null;
    }

    /** @param isTried whether it leaves to be tried */
    void remove(Acquire acquire, boolean isTried) {
        if (isTried) {
            tried.add(acquire);
            if (view != null && tried.containsAll(view.own)) {
                view = null; // there may be more callers
            }
        } else {
            leave(acquire);
        }
    }

    /**
     * Records an answer of the database.
     *
     * @param read the tags of some shares; null if none were read
     * @param now this JVM's monotonic clock
     */
    void answered(int readCapacity, WaitersElsewhere others, @Nullable ShareTags read, long now) {
        view = null;
        elsewhere = others;
        forgetAnswered();
        boolean isBack = read != null && read.time() < tags.time();
        if (isBack) {
            tags.clear();
        }
        if (read != null) {
            tags.learn(read);
        }
        Map<String, Integer> before = weightsElsewhere;
        weightsElsewhere = others.weights();
        if (isBack || readCapacity != capacity) {
            capacity = readCapacity;
            sort();
            return;
        }
        Set<Share> changed = read == null ? new HashSet<>() : read.known();
        addDifferent(before, weightsElsewhere, changed);
        addDifferent(weightsElsewhere, before, changed);
        if (toSort.isEmpty() && now - sortedAt > SORTED_EVERY) {
            sortedAt = now;
            toSort.addAll(line.shares());
            retainTags();
        }
        for (int i = 0; i < SORTED_AT_ONCE && !toSort.isEmpty(); i++) {
            changed.add(toSort.remove());
        }
        line.refresh(changed);
    }

    private static void addDifferent(Map<String, Integer> weights, Map<String, Integer> others, Set<Share> different) {
        weights.forEach((share, weight) -> {
            if (!weight.equals(others.get(share))) {
                different.add(Share.of(share));
            }
        });
    }

    private void sort() {
        List<Acquire> all = new ArrayList<>();
        line.inOrder().forEachRemaining(all::add);
        retainTags();
        line = empty();
        all.forEach(line::add);
    }

    /** Forgets the tags of shares that nobody waits for. */
    private void retainTags() {
        Set<Share> present = new HashSet<>(line.shares());
        elsewhere.queues().forEach(queue -> queue.first().forEach(waiter -> present.add(waiter.share())));
        tags.retain(present);
    }

    @Nullable Acquire first(boolean isWindowOpen) {
        return view(isWindowOpen).next(0, false);
    }

    @Nullable Acquire firstOfOneSemaphore(boolean isWindowOpen) {
        return view(isWindowOpen).next(0, true);
    }

    /** The next of the first callers behind this one, which may be being tried; null if there is none. */
    @Nullable Acquire after(Acquire acquire, boolean isWindowOpen) {
        View present = view(isWindowOpen);
        Integer index = present.indexes.get(acquire);
        return index == null ? null : present.next(index + 1, false);
    }

    /**
     * The line as seen by an acquire.
     *
     * @param all the permits that all callers of this instance wait for; they are ahead of an acquire that is not among the first
     */
    LineAhead line(Acquire acquire, Demand all, boolean isWindowOpen) {
        if (!acquire.hasWaited()) { // it is in no view, and would make each one anew
            return new LineAhead(all, elsewhere, Place.LAST, isWindowOpen);
        }
        return lineOf(acquire, all, isWindowOpen);
    }

    private LineAhead lineOf(Acquire acquire, Demand all, boolean isWindowOpen) {
        View present = view(isWindowOpen);
        Place place = present.placeOf(acquire);
        if (place == null) {
            return new LineAhead(all, present.others(), Place.LAST, isWindowOpen);
        }
        long permits = 0;
        long several = 0;
        int callers = 0;
        for (Acquire each : present.before(acquire)) {
            if (!tried.contains(each)) {
                int count = askOf(each).permits(capacity);
                permits += count > capacity ? 0 : count;
                several += each.isOfSeveral() && count <= capacity ? count : 0;
                callers++;
            }
        }
        return new LineAhead(new Demand(permits, several, callers), present.others(), place, isWindowOpen);
    }

    /** Whether an acquire is among the first callers, so that its place is known. */
    boolean knows(Acquire acquire) {
        return view != null && view.indexes.containsKey(acquire);
    }

    /** The number of callers that are being tried and stand before an acquire. */
    long triedAhead(Acquire acquire) {
        return knows(acquire)
                ? Objects.requireNonNull(view).before(acquire).stream()
                        .filter(tried::contains)
                        .count()
                : tried.size();
    }

    /**
     * The first callers that wait, without those that are being tried.
     *
     * @param size the number of all callers that wait
     * @param since the earliest arrival among them
     */
    LineHead head(int size, long since) {
        beforeHidden.clear();
        Iterator<Acquire> inOrder = line.inOrder();
        List<Waiter> first = new ArrayList<>();
        ofSeveral.stream()
                .filter(acquire -> !tried.contains(acquire))
                .limit(LineHead.MAX_OF_SEVERAL)
                .forEach(acquire -> first.add(acquire.toWaiter(name)));
        Set<Share> shares = new HashSet<>();
        tried.stream().filter(acquire -> !acquire.isOfSeveral()).forEach(acquire -> shares.add(acquire.share()));
        LineHead.choose(new Untried(inOrder), Acquire::share).forEach(acquire -> {
            shares.add(acquire.share());
            first.add(acquire.toWaiter(name));
        });
        hidesKeys = line.keys() > shares.size();
        return new LineHead(first, size, since, true, hidesKeys);
    }

    /** The callers that are not being tried. Collects the others before them. */
    private final class Untried implements Iterator<Acquire> {

        private final Iterator<Acquire> all;
        private @Nullable Acquire next;

        private Untried(Iterator<Acquire> all) {
            this.all = all;
            advance();
        }

        private void advance() {
            next = null;
            while (next == null && all.hasNext()) {
                Acquire each = all.next();
                if (tried.contains(each)) {
                    beforeHidden.add(each);
                } else {
                    next = each;
                }
            }
        }

        @Override
        public boolean hasNext() {
            return next != null;
        }

        @Override
        public Acquire next() {
            Acquire present = Objects.requireNonNull(next);
            advance();
            return present;
        }
    }

    /**
     * What is known of the tags of an acquire that is about to be tried; null if the last {@link #head} left keys out, and one of them may
     * come before it.
     */
    ShareTags.@Nullable Known known(Acquire acquire) {
        Share share = acquire.share();
        return hidesKeys && beforeHidden.contains(acquire)
                ? new ShareTags.Known(
                        tags.tenantTag(share, weightOf(share.tenant()), capacity),
                        tags.keyTag(share, weightOf(share.keyPath()), capacity))
                : null;
    }

    private int weightOf(String share) {
        return Math.max(share.isEmpty() ? 1 : weights.applyAsInt(share), weightsElsewhere.getOrDefault(share, 1));
    }
}
