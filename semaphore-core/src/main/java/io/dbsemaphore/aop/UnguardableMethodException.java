package io.dbsemaphore.aop;

import org.jspecify.annotations.Nullable;

/** Thrown at start-up for a {@link io.dbsemaphore.annotation.WithPermits} annotation that cannot work on its method. */
public final class UnguardableMethodException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    /** The method, and what is wrong with it. */
    private final String problem;
    /** What to do about it. */
    private final String action;

    /** Creates an exception. The first sentence of {@code problemAndAction} is the problem, the rest is the action. */
    UnguardableMethodException(String method, String problemAndAction, @Nullable Throwable cause) {
        super("@WithPermits on " + method + ": " + problemAndAction, cause);
        int end = problemAndAction.indexOf(". ");
        this.problem =
                "@WithPermits on " + method + ": " + (end < 0 ? problemAndAction : problemAndAction.substring(0, end));
        this.action = end < 0 ? "Correct the annotation or the method" : problemAndAction.substring(end + 2);
    }

    /** {@return the method, and what is wrong with it} */
    public String problem() {
        return problem;
    }

    /** {@return what to do about it} */
    public String action() {
        return action;
    }
}
