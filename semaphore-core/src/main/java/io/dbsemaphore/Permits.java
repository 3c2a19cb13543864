package io.dbsemaphore;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The grants that the current thread works under: inside a {@code @WithPermits} method or the callback of
 * {@link SemaphoreOperations#execute}. Bound to the thread, not handed on to others.
 */
public final class Permits {

    private static final ThreadLocal<@Nullable Deque<PermitGrant>> HELD = new ThreadLocal<>();

    private Permits() {}

    /**
     * The innermost grant of this thread.
     *
     * @throws IllegalStateException outside of any
     */
    public static PermitGrant current() {
        return find().orElseThrow(() -> new IllegalStateException(
                "No permits are held by this thread: call it inside of a @WithPermits method, reached through its"
                        + " proxy, or of the callback of SemaphoreOperations.execute"));
    }

    /** The innermost grant of this thread, if there is one. */
    public static Optional<PermitGrant> find() {
        return grants().findFirst();
    }

    /** The grants of this thread, innermost first. */
    static Stream<PermitGrant> grants() {
        Deque<PermitGrant> held = HELD.get();
        return held == null ? Stream.empty() : held.stream();
    }

    /**
     * Runs the work with the grant as {@link #current()}. It neither acquires nor releases.
     *
     * @throws X what the work threw
     */
    public static <T extends @Nullable Object, X extends Throwable> T callHolding(
            PermitGrant grant, PermitCallback<T, X> work) throws X {
        Deque<PermitGrant> held = HELD.get();
        if (held == null) {
            held = new ArrayDeque<>();
            HELD.set(held);
        }
        held.push(grant);
        try {
            return work.doWithPermits(grant);
        } finally {
            held.pop();
            if (held.isEmpty()) {
                HELD.remove();
            }
        }
    }
}
