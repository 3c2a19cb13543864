package io.dbsemaphore;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The grants that the current thread runs under, inside a {@code @WithPermits} method or a callback of
 * {@link SemaphoreOperations#execute}. They are bound to the thread, and other threads do not inherit them. No method
 * accesses the database.
 */
public final class Permits {

    private static final ThreadLocal<@Nullable Deque<PermitGrant>> HELD = new ThreadLocal<>();

    private Permits() {}

    /**
     * Returns the innermost grant of the current thread.
     *
     * @return the grant
     * @throws IllegalStateException if the current thread does not run under a grant
     */
    public static PermitGrant current() {
        return find().orElseThrow(() -> new IllegalStateException(
                "This thread holds no permits: call this inside a @WithPermits method that was called through its"
                        + " proxy, or inside a callback of SemaphoreOperations.execute"));
    }

    /** {@return the innermost grant of the current thread; empty if there is none} */
    public static Optional<PermitGrant> find() {
        return grants().findFirst();
    }

    /**
     * Asserts that the current thread runs under a permit of a semaphore. Call it first in a {@code @WithPermits}
     * method whose limit must not be bypassed: a call from within the same object does not pass through the proxy, and
     * so acquires nothing.
     *
     * <p>A grant of {@link SemaphoreOperations#acquire} is not bound to a thread: use {@link #callHolding} to run work
     * that asserts it.
     *
     * @param name the semaphore
     * @throws IllegalStateException if this thread does not run under a permit of it
     * @throws PermitLostException if the permit that this thread runs under is no longer held
     */
    public static void assertHeld(String name) {
        List<PermitGrant> grants =
                grants().filter(grant -> grant.permits().containsKey(name)).toList();
        if (grants.isEmpty()) {
            throw new IllegalStateException("This thread does not run under a permit of semaphore '" + name
                    + "'. Call a @WithPermits method through its bean, not from within the same object. A grant of acquire"
                    + " does not count, even if it is held, since it is bound to no thread: run the work with"
                    + " Permits.callHolding(grant, work)");
        }
        if (grants.stream().noneMatch(PermitGrant::isHeld)) {
            throw new PermitLostException(
                    grants.get(0).externalId(), grants.get(0).permits());
        }
    }

    /** The grants of the current thread, innermost first. */
    static Stream<PermitGrant> grants() {
        Deque<PermitGrant> held = HELD.get();
        return held == null ? Stream.empty() : held.stream();
    }

    /**
     * Runs work on the calling thread. Meanwhile {@link #current()} returns the grant. Neither acquires nor releases the grant.
     *
     * @param <T> the type of the result
     * @param <X> the exception that the work declares
     * @param grant the grant that the work runs under
     * @param work the work
     * @return the result of the work
     * @throws X if the work fails
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
