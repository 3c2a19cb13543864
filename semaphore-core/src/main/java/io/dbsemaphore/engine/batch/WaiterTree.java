package io.dbsemaphore.engine.batch;

import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.Demand;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.Waiter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Acquires that wait for permits of one semaphore, in their {@linkplain Acquire#IN_ORDER order}, with the number of permits requested
 * ahead of each. A treap: a search tree in that order, and a heap by random keys (Seidel and Aragon, <a
 * href="https://doi.org/10.1007/BF01940876">Randomized Search Trees</a>, 1996). With a sum in each node, each operation takes
 * logarithmic time; a sorted map would have to add up the requests of all callers ahead.
 */
final class WaiterTree {

    private @Nullable Node root;

    private static final class Node {

        private final Acquire acquire;
        private final Waiter waiter;
        private final int heapKey = ThreadLocalRandom.current().nextInt();
        private long sum;
        private long sumOfSeveral;
        private long since;
        private int size;
        private @Nullable Node left;
        private @Nullable Node right;

        private Node(Acquire acquire, Ask ask) {
            this.acquire = acquire;
            waiter = new Waiter(
                    acquire.place(),
                    ask,
                    acquire.isOfSeveral(),
                    acquire.position().headStart());
            update();
        }

        private boolean isOfSeveral() {
            return waiter.ofSeveral();
        }

        private int compareTo(Acquire other) {
            return Acquire.IN_ORDER.compare(acquire, other);
        }

        private Node update() {
            long requested = waiter.ask().permits();
            sum = requested + (left == null ? 0 : left.sum) + (right == null ? 0 : right.sum);
            sumOfSeveral = (isOfSeveral() ? requested : 0)
                    + (left == null ? 0 : left.sumOfSeveral)
                    + (right == null ? 0 : right.sumOfSeveral);
            since = Math.min(waiter.arrival(), Math.min(sinceOf(left), sinceOf(right)));
            size = sizeOf(left) + 1 + sizeOf(right);
            return this;
        }
    }

    private record Split(@Nullable Node below, @Nullable Node above) {}

    /** Adds an acquire that is not in the tree. */
    void add(Acquire acquire, Ask ask) {
        Split split = split(root, acquire, false);
        root = merge(merge(split.below(), new Node(acquire, ask)), split.above());
    }

    /** Removes an acquire. Returns whether it was present. */
    boolean remove(Acquire acquire) {
        Split from = split(root, acquire, false);
        Split to = split(from.above(), acquire, true);
        root = merge(from.below(), to.above());
        return to.below() != null;
    }

    /** The first acquire; null if there is none. */
    @Nullable Acquire first() {
        return acquireOf(next(root, null, false));
    }

    /** The acquire that came first, perhaps behind others with head starts; null if there is none. */
    @Nullable Acquire earliest() {
        Node node = root;
        while (node != null && node.waiter.arrival() != node.since) {
            node = sinceOf(node.left) == node.since ? node.left : node.right;
        }
        return acquireOf(node);
    }

    /** When {@link #earliest} came, in microseconds since 1970 by the database's clock. */
    long since() {
        return sinceOf(root);
    }

    /** The acquire behind this one; null if there is none. This one may have left the tree. */
    @Nullable Acquire after(Acquire acquire) {
        return acquireOf(next(root, acquire, false));
    }

    /** The first acquire that names no other semaphore; null if there is none. */
    @Nullable Acquire firstOfOneSemaphore() {
        return acquireOf(next(root, null, true));
    }

    private static @Nullable Acquire acquireOf(@Nullable Node node) {
        return node == null ? null : node.acquire;
    }

    /**
     * The first node of a subtree.
     *
     * @param behind if not null, only nodes behind this acquire are considered
     * @param ofOne whether acquires of several semaphores are left out
     */
    private static @Nullable Node next(@Nullable Node node, @Nullable Acquire behind, boolean ofOne) {
        if (node == null || (ofOne && !hasOfOne(node))) {
            return null;
        }
        if (behind == null || node.compareTo(behind) > 0) {
            Node first = next(node.left, behind, ofOne);
            if (first != null || !ofOne || !node.isOfSeveral()) {
                return first == null ? node : first;
            }
        }
        return next(node.right, behind, ofOne);
    }

    private static boolean hasOfOne(Node node) {
        return node.sum > node.sumOfSeveral;
    }

    boolean isEmpty() {
        return root == null;
    }

    /** The first acquires, in order, the number of all, and the earliest arrival. */
    LineHead toLocal() {
        List<Waiter> first = new ArrayList<>();
        int ofSeveral = 0;
        Node node = next(root, null, false);
        while (node != null && first.size() < LineHead.MAX_FIRST) {
            first.add(node.waiter);
            ofSeveral += node.isOfSeveral() ? 1 : 0;
            node = next(root, node.acquire, ofSeveral == LineHead.MAX_OF_SEVERAL);
        }
        return new LineHead(first, sizeOf(root), sinceOf(root));
    }

    int size() {
        return sizeOf(root);
    }

    /** The permits that all acquires request. */
    Demand demand() {
        return root == null ? Demand.NONE : new Demand(root.sum, root.sumOfSeveral, root.size);
    }

    /** The permits that the acquires ahead of this one request; if this one does not stand in the line, all of them are ahead. */
    Demand demandAhead(Acquire acquire) {
        if (!acquire.position().isInLine()) {
            return demand();
        }
        long permits = 0;
        long ofSeveral = 0;
        int callers = 0;
        Node node = root;
        while (node != null) {
            if (node.compareTo(acquire) < 0) {
                permits += node.sum - (node.right == null ? 0 : node.right.sum);
                ofSeveral += node.sumOfSeveral - (node.right == null ? 0 : node.right.sumOfSeveral);
                callers += node.size - sizeOf(node.right);
                node = node.right;
            } else {
                node = node.left;
            }
        }
        return new Demand(permits, ofSeveral, callers);
    }

    /** Splits a tree at an acquire, which goes to the first part if {@code below}, otherwise to the second. */
    private static Split split(@Nullable Node node, Acquire at, boolean below) {
        if (node == null) {
            return new Split(null, null);
        }
        int order = node.compareTo(at);
        if (order < 0 || (order == 0 && below)) {
            Split split = split(node.right, at, below);
            node.right = split.below();
            return new Split(node.update(), split.above());
        }
        Split split = split(node.left, at, below);
        node.left = split.above();
        return new Split(split.below(), node.update());
    }

    private static @Nullable Node merge(@Nullable Node below, @Nullable Node above) {
        if (below == null || above == null) {
            return below == null ? above : below;
        }
        if (below.heapKey > above.heapKey) {
            below.right = merge(below.right, above);
            return below.update();
        }
        above.left = merge(below, above.left);
        return above.update();
    }

    private static long sinceOf(@Nullable Node node) {
        return node == null ? Long.MAX_VALUE : node.since;
    }

    private static int sizeOf(@Nullable Node node) {
        return node == null ? 0 : node.size;
    }
}
