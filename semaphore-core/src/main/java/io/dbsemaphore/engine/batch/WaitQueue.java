package io.dbsemaphore.engine.batch;

import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Who waits for permits of one semaphore, in the order in which they came, and how many permits those ask for who came
 * before another: a search tree by ticket that is a heap by random priority, with a sum in each node, so that each
 * operation takes logarithmic time (a treap: Seidel and Aragon, <a href="https://doi.org/10.1007/BF01940876">Randomized
 * Search Trees</a>, 1996). Guarded by the lock of the {@link GrantQueue}.
 */
final class WaitQueue {

    private @Nullable Node root;

    private static final class Node {

        private final QueuedAcquire pending;
        private final long ticket;
        private final long asked;
        private final int priority = ThreadLocalRandom.current().nextInt();
        private long sum;
        private @Nullable Node left;
        private @Nullable Node right;

        private Node(QueuedAcquire pending, long asked) {
            this.pending = pending;
            this.ticket = pending.ticket();
            this.asked = asked;
            this.sum = asked;
        }

        private Node update() {
            sum = sumOf(left) + asked + sumOf(right);
            return this;
        }
    }

    private record Split(@Nullable Node below, @Nullable Node above) {}

    /** Puts it in its place; it is not in the queue yet. */
    void add(QueuedAcquire pending, long asked) {
        Split split = split(root, pending.ticket());
        root = merge(merge(split.below(), new Node(pending, asked)), split.above());
    }

    /** Takes it out, and returns whether it was in. */
    boolean remove(QueuedAcquire pending) {
        Split from = split(root, pending.ticket());
        Split to = split(from.above(), pending.ticket() + 1);
        root = merge(from.below(), to.above());
        return to.below() != null;
    }

    /** The one that came first; null when nobody waits. */
    @Nullable QueuedAcquire first() {
        Node node = root;
        while (node != null && node.left != null) {
            node = node.left;
        }
        return node == null ? null : node.pending;
    }

    boolean isEmpty() {
        return root == null;
    }

    /** How many permits all ask for. */
    long demand() {
        return sumOf(root);
    }

    /** How many permits those ask for who came before this ticket. */
    long demandAhead(long ticket) {
        long asked = 0;
        Node node = root;
        while (node != null) {
            if (node.ticket < ticket) {
                asked += sumOf(node.left) + node.asked;
                node = node.right;
            } else {
                node = node.left;
            }
        }
        return asked;
    }

    /** All, in their order. */
    void forEach(Consumer<QueuedAcquire> action) {
        forEach(root, action);
    }

    private static void forEach(@Nullable Node node, Consumer<QueuedAcquire> action) {
        if (node != null) {
            forEach(node.left, action);
            action.accept(node.pending);
            forEach(node.right, action);
        }
    }

    /** Those below the ticket, and the others. */
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
