package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.LocalQueue;
import io.dbsemaphore.domain.Waiter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The acquires that wait for permits of one semaphore, in the order of their first refusal, and the number of permits that those ahead of a given
 * one request. A search tree by ticket that is a heap by random priority, with a sum in each node, so that each operation takes
 * logarithmic time (a treap: Seidel and Aragon, <a href="https://doi.org/10.1007/BF01940876">Randomized Search Trees</a>,
 * 1996). Guarded by the lock of the {@link GrantQueue}.
 */
final class WaitQueue {

    private @Nullable Node root;

    private static final class Node {

        private final QueuedAcquire acquire;
        private final long since;
        private final long ticket;
        private final long requested;
        private final int priority = ThreadLocalRandom.current().nextInt();
        private long sum;
        private int size;
        private @Nullable Node left;
        private @Nullable Node right;

        private Node(QueuedAcquire acquire, long requested) {
            this.acquire = acquire;
            this.since = acquire.state().since();
            this.ticket = acquire.ticket();
            this.requested = requested;
            this.sum = requested;
            this.size = 1;
        }

        private boolean isBefore(long otherSince, long otherTicket) {
            return since < otherSince || (since == otherSince && ticket < otherTicket);
        }

        private Node update() {
            sum = sumOf(left) + requested + sumOf(right);
            size = sizeOf(left) + 1 + sizeOf(right);
            return this;
        }
    }

    private record Split(@Nullable Node below, @Nullable Node above) {}

    /** Adds an acquire that is not in the queue. */
    void add(QueuedAcquire acquire, long requested) {
        Split split = split(root, acquire.state().since(), acquire.ticket());
        root = merge(merge(split.below(), new Node(acquire, requested)), split.above());
    }

    /** Removes an acquire. Returns whether it was present. */
    boolean remove(QueuedAcquire acquire) {
        long since = acquire.state().since();
        Split from = split(root, since, acquire.ticket());
        Split to = split(from.above(), since, acquire.ticket() + 1);
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

    /** The acquires that have waited longest, in order, and the number of all. */
    LocalQueue toLocal() {
        List<Waiter> first = new ArrayList<>();
        addFirst(root, first);
        return new LocalQueue(first, sizeOf(root));
    }

    private static void addFirst(@Nullable Node node, List<Waiter> first) {
        if (node == null || first.size() >= LocalQueue.MAX_FIRST) {
            return;
        }
        addFirst(node.left, first);
        if (first.size() < LocalQueue.MAX_FIRST) {
            first.add(new Waiter(
                    node.since, (int) node.requested, node.acquire.command().exclusive()));
            addFirst(node.right, first);
        }
    }

    /** The number of permits that all acquires request. */
    long demand() {
        return sumOf(root);
    }

    /** The number of permits that acquires request which are before this one. */
    long demandAhead(QueuedAcquire acquire) {
        long since = acquire.state().since();
        long demand = 0;
        Node node = root;
        while (node != null) {
            if (node.isBefore(since, acquire.ticket())) {
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

    /** Splits a tree into the acquires before a place, and the others. */
    private static Split split(@Nullable Node node, long since, long ticket) {
        if (node == null) {
            return new Split(null, null);
        }
        if (node.isBefore(since, ticket)) {
            Split split = split(node.right, since, ticket);
            node.right = split.below();
            return new Split(node.update(), split.above());
        }
        Split split = split(node.left, since, ticket);
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

    private static int sizeOf(@Nullable Node node) {
        return node == null ? 0 : node.size;
    }

    private static long sumOf(@Nullable Node node) {
        return node == null ? 0 : node.sum;
    }
}
