package io.dbsemaphore.aop;

import io.dbsemaphore.spi.StartFailure;
import org.jspecify.annotations.Nullable;

/** Thrown at start-up for a {@link io.dbsemaphore.annotation.WithPermits} annotation that cannot work on its method. */
public final class UnguardableMethodException extends IllegalStateException implements StartFailure {

    private static final long serialVersionUID = 1L;

    /** Creates an exception whose message states the problem in its first sentence, and then the solution. */
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
