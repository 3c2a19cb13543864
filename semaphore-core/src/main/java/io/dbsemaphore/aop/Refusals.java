package io.dbsemaphore.aop;

import io.dbsemaphore.annotation.OnUnavailable;
import io.dbsemaphore.annotation.WithPermits;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the handler that an annotation asks for when an acquire is refused: throw, skip, or call a fallback method.
 */
final class Refusals {

    private static final Logger log = LoggerFactory.getLogger(Refusals.class);

    private Refusals() {}

    /** @throws IllegalStateException if it cannot work for this method */
    static Refusal of(AnnotatedMethod annotated) {
        WithPermits annotation = annotated.annotation();
        boolean skip = annotation.onUnavailable() == OnUnavailable.SKIP;
        if (annotation.fallbackMethod().isEmpty()) {
            return skip
                    ? skip(annotated)
                    : (invocation, refused) -> {
                        throw refused;
                    };
        }
        if (skip) {
            throw annotated.refuse(
                    "fallbackMethod",
                    annotation.fallbackMethod(),
                    "contradicts onUnavailable = SKIP, which calls nothing. Leave one of them out");
        }
        return FallbackMethod.of(annotated);
    }

    private static Refusal skip(AnnotatedMethod annotated) {
        Class<?> returned = annotated.returnType().toClass();
        if (returned.isPrimitive() && returned != void.class) {
            throw annotated.refuse(
                    "onUnavailable",
                    OnUnavailable.SKIP,
                    "is not supported for the return type %1$s. Return an Optional or the wrapper of %1$s"
                            .formatted(returned));
        }
        Supplier<@Nullable Object> nothing = nothing(returned);
        return (invocation, refused) -> {
            log.debug("Skipped {}: {}", annotated, refused.getMessage());
            return nothing.get();
        };
    }

    /** Supplies what a skipped call returns: an empty value of the type, otherwise null. */
    @SuppressWarnings("FutureReturnValueIgnored") // it is returned
    static Supplier<@Nullable Object> nothing(Class<?> returned) {
        if (returned == Optional.class) {
            return Optional::empty;
        } else if (returned == OptionalInt.class) {
            return OptionalInt::empty;
        } else if (returned == OptionalLong.class) {
            return OptionalLong::empty;
        } else if (returned == OptionalDouble.class) {
            return OptionalDouble::empty;
        } else if (returned == CompletableFuture.class || returned == CompletionStage.class) {
            return () -> CompletableFuture.completedFuture(null);
        }
        return () -> null;
    }
}
