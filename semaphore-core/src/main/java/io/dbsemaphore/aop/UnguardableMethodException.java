package io.dbsemaphore.aop;

import org.jspecify.annotations.Nullable;

/** A {@link io.dbsemaphore.annotation.WithPermits} that cannot work where it is. */
public final class UnguardableMethodException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String action;

    /** The problem is a sentence, what follows says what to do. */
    UnguardableMethodException(String method, String problemAndAction, @Nullable Throwable cause) {
        super("@WithPermits on " + method + ": " + problemAndAction, cause);
        int end = problemAndAction.indexOf(". ");
        this.problem =
                "@WithPermits on " + method + ": " + (end < 0 ? problemAndAction : problemAndAction.substring(0, end));
        this.action = end < 0 ? "Correct the annotation or the method" : problemAndAction.substring(end + 2);
    }

    /** The method, and what is wrong with it. */
    public String problem() {
        return problem;
    }

    /** What to do about it. */
    public String action() {
        return action;
    }
}
