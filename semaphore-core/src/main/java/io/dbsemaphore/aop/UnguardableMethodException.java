package io.dbsemaphore.aop;

import io.dbsemaphore.spi.StartFailure;
import org.jspecify.annotations.Nullable;

/** Thrown at start-up for a method with {@link io.dbsemaphore.annotation.WithPermits} on which the annotation cannot work. */
public final class UnguardableMethodException extends IllegalStateException implements StartFailure {

    private static final long serialVersionUID = 1L;

    /** @param message the problem, as the first sentence, and then the solution */
    UnguardableMethodException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    @Override
    public String description() {
        return sentences()[0] + ".";
    }

    @Override
    public String action() {
        String[] sentences = sentences();
        return (sentences.length > 1 ? sentences[1] : "Correct the annotation or the method") + ".";
    }

    /** The first sentence, and the others if there are more. */
    private String[] sentences() {
        return String.valueOf(getMessage()).split("\\. ", 2);
    }
}
