package io.dbsemaphore.engine.batch;

import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The acquires that wait for permits of one semaphore, in arrival order, and the number of permits that those ahead of a given
 * one request. A search tree by ticket that is a heap by random priority, with a sum in each node, so that each operation takes
 * logarithmic time (a treap: Seidel and Aragon, <a href="https://doi.org/10.1007/BF01940876">Randomized Search Trees</a>,
 * 1996). Guarded by the lock of the {@link GrantQueue}.
 */
final class WaitQueue {

    private @Nullable Node root;

    private static final class Node {

        private final QueuedAcquire acquire;
        private final long ticket;
        private final long requested;
        private final int priority = ThreadLocalRandom.current().nextInt();
        private long sum;
        private @Nullable Node left;
        private @Nullable Node right;

        private Node(QueuedAcquire acquire, long requested) {
            this.acquire = acquire;
            this.ticket = acquire.ticket();
            this.requested = requested;
            this.sum = requested;
        }

        private Node update() {
            sum = sumOf(left) + requested + sumOf(right);
            return this;
        }
    }

    private record Split(@Nullable Node below, @Nullable Node above) {}

    /** Adds an acquire that is not in the queue, at the position of its ticket. */
    void add(QueuedAcquire acquire, long requested) {
        Split split = split(root, acquire.ticket());
        root = merge(merge(split.below(), new Node(acquire, requested)), split.above());
    }

    /** Removes an acquire. Returns whether it was present. */
    boolean remove(QueuedAcquire acquire) {
        Split from = split(root, acquire.ticket());
        Split to = split(from.above(), acquire.ticket() + 1);
        root = merge(from.below(), to.above());
        return to.below() != null;
    }

    /** The acquire that waits longest; null when the queue is empty. */
    @Nullable QueuedAcquire first() {
        Node node = root;
        while (node != null && node.left != null) {
            node = node.left;
        }
        return node == null ? null : node.acquire;
    }

    boolean isEmpty() {
        return root == null;
    }

    /** The number of permits that all acquires request. */
    long demand() {
        return sumOf(root);
    }

    /** The number of permits that acquires with a lower ticket request. */
    long demandAhead(long ticket) {
        long demand = 0;
        Node node = root;
        while (node != null) {
            if (node.ticket < ticket) {
                demand += sumOf(node.left) + node.requested;
                node = node.right;
            } else {
                node = node.left;
            }
        }
        return demand;
    }

    /** Visits all acquires in their order. */
    void forEach(Consumer<QueuedAcquire> action) {
        forEach(root, action);
    }

    private static void forEach(@Nullable Node node, Consumer<QueuedAcquire> action) {
        if (node != null) {
            forEach(node.left, action);
            action.accept(node.acquire);
            forEach(node.right, action);
        }
    }

    /** Splits a tree into the acquires below the ticket, and the others. */
    private static Split split(@Nullable Node node, long ticket) {
        if (node == null) {
            return new Split(null, null);
        }
        if (node.ticket < ticket) {
            Split split = split(node.right, ticket);
            node.right = split.below();
            return new Split(node.update(), split.above());
        }
        Split split = split(node.left, ticket);
        node.left = split.above();
        return new Split(split.below(), node.update());
    }

    private static @Nullable Node merge(@Nullable Node below, @Nullable Node above) {
        if (below == null || above == null) {
            return below == null ? above : below;
        }
        if (below.priority > above.priority) {
            below.right = merge(below.right, above);
            return below.update();
        }
        above.left = merge(below, above.left);
        return above.update();
    }

    private static long sumOf(@Nullable Node node) {
        return node == null ? 0 : node.sum;
    }
}
