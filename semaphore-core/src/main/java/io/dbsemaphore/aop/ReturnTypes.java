package io.dbsemaphore.aop;

import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * Determines when the work of a method ends: when it returns, when the future that it returned completes, or when a
 * subscription to the publisher that it returned ends. Rejects methods with a <em>late</em> return type: its values are returned before the
 * work has ended, or do the work when they are used.
 */
final class ReturnTypes {

    private static final List<Class<?>> LATE =
            List.of(Future.class, CompletionStage.class, Callable.class, Flow.Publisher.class, BaseStream.class);

    /** Class names, so that these libraries are not required. */
    private static final Set<String> LATE_NAMES = Set.of(
            "org.reactivestreams.Publisher",
            "org.springframework.web.context.request.async.DeferredResult",
            "org.springframework.web.context.request.async.WebAsyncTask",
            "org.springframework.web.reactive.function.server.ServerResponse",
            "org.springframework.web.servlet.function.ServerResponse",
            "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
            "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
            "jakarta.ws.rs.core.StreamingOutput",
            "kotlin.sequences.Sequence",
            "kotlinx.coroutines.Job",
            "kotlinx.coroutines.flow.Flow",
            "io.smallrye.mutiny.Uni",
            "io.vavr.concurrent.Future",
            "io.vertx.core.Future",
            "scala.concurrent.Future",
            "rx.Completable",
            "rx.Observable",
            "rx.Single");

    private static final String RX_JAVA = "io.reactivex.";

    /** Ends the search in types that refer to themselves. */
    private static final int MAX_DEPTH = 8;

    /** Null without Reactor. */
    private static final @Nullable ReactiveAdapterRegistry REACTIVE =
            ClassUtils.isPresent("reactor.core.publisher.Flux", ReturnTypes.class.getClassLoader())
                    ? ReactiveAdapterRegistry.getSharedInstance()
                    : null;

    private ReturnTypes() {}

    static boolean isFuture(AnnotatedMethod annotated) {
        Class<?> returned = annotated.returnType().toClass();
        return returned == CompletableFuture.class || returned == CompletionStage.class;
    }

    /** The adapter of the return type; null if it is not a reactive type. */
    static @Nullable ReactiveAdapter adapterOf(AnnotatedMethod annotated) {
        Class<?> returned = annotated.returnType().toClass();
        ReactiveAdapter adapter = REACTIVE == null || isFuture(annotated) ? null : REACTIVE.getAdapter(returned);
        // An adapter accepts subtypes of its type, but does not create them
        return adapter != null && adapter.getReactiveType() == returned ? adapter : null;
    }

    /** @throws IllegalStateException if the work may continue after anything that the library can observe */
    static void requireKnownEnd(AnnotatedMethod annotated) {
        Class<?>[] parameters = annotated.method().getParameterTypes();
        if (parameters.length > 0
                && parameters[parameters.length - 1].getName().equals("kotlin.coroutines.Continuation")) {
            throw annotated.refuse("it is a suspending function, which returns when it is suspended for the first time:"
                    + " its permits would be released while it is still running. Remove the annotation, and in the"
                    + " function use SemaphoreOperations.acquireAsync, await and a release in finally. Or make it an"
                    + " ordinary function, which returns a value or a Flow");
        }
        ResolvableType type = annotated.returnType();
        if (!isFuture(annotated) && adapterOf(annotated) == null && isLate(type.toClass())) {
            throw refuse(annotated, "returns " + type.toClass().getName() + ", whose work ends");
        }
        lateWithin(type, MAX_DEPTH).findFirst().ifPresent(late -> {
            throw refuse(annotated, "returns " + type + ": the work of " + late.getName() + " within it ends");
        });
    }

    /**
     * Checks the result of a method that is declared to return {@code Object}.
     *
     * @throws IllegalStateException if the work of the result has not ended
     */
    static void requireEnded(AnnotatedMethod annotated, Object result) {
        if (isLate(result.getClass())) {
            throw refuse(annotated, "has returned a " + result.getClass().getName() + ", whose work ends");
        }
    }

    static boolean isLate(Class<?> type) {
        return LATE.stream().anyMatch(late -> late.isAssignableFrom(type)) || isLateByName(type);
    }

    private static boolean isLateByName(@Nullable Class<?> type) {
        return type != null
                && (LATE_NAMES.contains(type.getName())
                        || type.getName().startsWith(RX_JAVA)
                        || isLateByName(type.getSuperclass())
                        || Stream.of(type.getInterfaces()).anyMatch(ReturnTypes::isLateByName));
    }

    private static Stream<Class<?>> lateWithin(ResolvableType type, int depth) {
        if (depth == 0 || type.toClass() == Class.class) {
            return Stream.empty();
        }
        ResolvableType[] inner = type.isArray() ? new ResolvableType[] {type.getComponentType()} : type.getGenerics();
        return Stream.of(inner)
                .flatMap(it -> isLate(it.toClass()) ? Stream.of(it.toClass()) : lateWithin(it, depth - 1));
    }

    private static IllegalStateException refuse(AnnotatedMethod annotated, String problem) {
        return annotated.refuse(
                "it " + problem + " later than the method: its permits would be released while it is still running."
                        + " Return a value, a CompletableFuture or a CompletionStage"
                        + (REACTIVE == null
                                ? " (or, with Reactor on the classpath, a Mono or Flux)"
                                : ", a Mono, a Flux or another type that Spring's ReactiveAdapterRegistry supports")
                        + ", or use SemaphoreOperations.acquire and release");
    }
}
