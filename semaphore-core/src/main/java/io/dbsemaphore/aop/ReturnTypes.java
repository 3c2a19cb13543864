package io.dbsemaphore.aop;

import java.lang.reflect.Method;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/** Determines when the work of a method ends, and rejects methods for which that cannot be determined. */
final class ReturnTypes {

    /** When the work of a method ends. */
    enum Shape {

        /** When the method returns. */
        SYNCHRONOUS,

        /** When the future that it returned completes. */
        FUTURE,

        /** When a subscription to the publisher that it returned ends. */
        REACTIVE
    }

    /** Ends the search in types that refer to themselves. */
    private static final int MAX_DEPTH = 8;

    private final @Nullable ReactiveAdapterRegistry reactiveTypes;

    ReturnTypes() {
        boolean reactor = ClassUtils.isPresent("reactor.core.publisher.Flux", ReturnTypes.class.getClassLoader());
        this.reactiveTypes = reactor ? ReactiveAdapterRegistry.getSharedInstance() : null;
    }

    /** @throws IllegalStateException if the work may continue after anything that the library can observe */
    Shape shapeOf(AnnotatedMethod annotated) {
        if (isSuspending(annotated.method())) {
            throw annotated.refuse("it is a suspending function, which returns when it is suspended for the first time:"
                    + " its permits would be released while it is still running. Remove the annotation, and in the"
                    + " function use SemaphoreOperations.acquireAsync, await and a release in finally. Or make it an"
                    + " ordinary function, which returns a value or a Flow");
        }
        ResolvableType type = annotated.returnType();
        Class<?> returned = type.toClass();
        Shape shape = Shape.SYNCHRONOUS;
        if (returned == CompletableFuture.class || returned == CompletionStage.class) {
            shape = Shape.FUTURE;
        } else if (adapterOf(annotated).isPresent()) {
            shape = Shape.REACTIVE;
        } else if (LateTypes.contains(returned)) {
            throw refuse(annotated, "returns " + returned.getName() + ", whose work ends");
        }
        lateWithin(type, MAX_DEPTH).ifPresent(late -> {
            throw refuse(annotated, "returns " + type + ": the work of " + late.getName() + " within it ends");
        });
        return shape;
    }

    /** The adapter of the return type; empty if it is not a reactive type. */
    Optional<ReactiveAdapter> adapterOf(AnnotatedMethod annotated) {
        Class<?> returned = annotated.returnType().toClass();
        return Optional.ofNullable(reactiveTypes == null ? null : reactiveTypes.getAdapter(returned))
                // An adapter accepts subtypes of its type, but does not create them
                .filter(adapter -> adapter.getReactiveType() == returned);
    }

    /**
     * Checks the result of a method that is declared to return {@code Object}.
     *
     * @return the result
     * @throws IllegalStateException if the work of the result has not ended
     */
    @Nullable Object requireEnded(AnnotatedMethod annotated, @Nullable Object result) {
        if (result != null && LateTypes.contains(result.getClass())) {
            throw refuse(annotated, "has returned a " + result.getClass().getName() + ", whose work ends");
        }
        return result;
    }

    private static boolean isSuspending(Method method) {
        Class<?>[] parameters = method.getParameterTypes();
        return parameters.length > 0
                && parameters[parameters.length - 1].getName().equals("kotlin.coroutines.Continuation");
    }

    private static Optional<Class<?>> lateWithin(ResolvableType type, int depth) {
        if (depth == 0 || type.toClass() == Class.class) {
            return Optional.empty();
        }
        ResolvableType[] inner = type.isArray() ? new ResolvableType[] {type.getComponentType()} : type.getGenerics();
        for (ResolvableType it : inner) {
            Optional<Class<?>> late =
                    LateTypes.contains(it.toClass()) ? Optional.of(it.toClass()) : lateWithin(it, depth - 1);
            if (late.isPresent()) {
                return late;
            }
        }
        return Optional.empty();
    }

    private IllegalStateException refuse(AnnotatedMethod annotated, String problem) {
        return annotated.refuse(
                "it " + problem + " later than the method: its permits would be released while it is still running."
                        + " Return a value, a CompletableFuture or a CompletionStage"
                        + (reactiveTypes == null
                                ? " (or, with Reactor on the classpath, a Mono or Flux)"
                                : ", a Mono, a Flux or another type that Spring's ReactiveAdapterRegistry supports")
                        + ", or use SemaphoreOperations.acquire and release");
    }
}
