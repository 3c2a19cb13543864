package io.dbsemaphore.aop;

import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.annotation.OnUnavailable;
import io.dbsemaphore.concurrent.DaemonThreads;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.Nullness;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;

/** Creates the guard of an annotated method, after it has checked everything that can be checked at start-up. */
final class GuardFactory {

    /** After this time an idle thread ends, so that the threads need no shutdown. */
    private static final int IDLE_SECONDS = 10;

    private final ReturnTypes returnTypes = new ReturnTypes();
    private final Executor releases = releasesOnThreads();
    private final Supplier<? extends SemaphoreOperations> supplier;
    private volatile @Nullable SemaphoreOperations operations;
    private final BeanFactory beanFactory;
    private final WithPermitsParser parser;
    private final Map<String, String> literalNames = new ConcurrentHashMap<>();

    GuardFactory(Supplier<? extends SemaphoreOperations> operations, BeanFactory beanFactory) {
        this.supplier = operations;
        this.beanFactory = beanFactory;
        this.parser = new WithPermitsParser(new PlaceholderResolver(beanFactory));
    }

    /** The names without expressions in the annotations processed so far, each with one of the methods that uses it. */
    Map<String, String> literalNames() {
        return Map.copyOf(literalNames);
    }

    /** @throws IllegalStateException if the annotation cannot work for the method */
    MethodGuard create(AnnotatedMethod annotated) {
        ReturnTypes.Shape shape = returnTypes.shapeOf(annotated);
        WithPermitsOperation operation = parser.parse(annotated);
        operation.claims().stream()
                .map(WithPermitsOperation.Claim::name)
                .filter(TextTemplate::isLiteral)
                .forEach(name -> literalNames.putIfAbsent(name.text(), annotated.toString()));
        RequestFactory requests = new RequestFactory(operation, beanFactory);
        Refusal refusal = Refusals.of(annotated);
        return switch (shape) {
            case SYNCHRONOUS -> synchronous(annotated, new SynchronousGuard(this::operations, requests, refusal));
            case FUTURE ->
                operation.waitTime().isZero() || isAsync(annotated)
                        ? new FutureGuard(this::operations, requests, refusal, releases)
                        : new AwaitingFutureGuard(this::operations, requests, refusal, releases);
            case REACTIVE -> reactive(annotated, requests, refusal);
        };
    }

    private MethodGuard synchronous(AnnotatedMethod annotated, MethodGuard guard) {
        requireNullableIfSkipped(annotated);
        if (annotated.returnType().toClass() != Object.class) {
            return guard;
        }
        return invocation -> returnTypes.requireEnded(annotated, guard.invoke(invocation));
    }

    /** A skipped call returns null, which callers in Kotlin or with a null checker do not expect of every type. */
    private static void requireNullableIfSkipped(AnnotatedMethod annotated) {
        Class<?> returned = annotated.returnType().toClass();
        if (annotated.annotation().onUnavailable() == OnUnavailable.SKIP
                && returned != void.class
                && Refusals.nothing(returned).get() == null
                && Nullness.forMethodReturnType(annotated.method()) == Nullness.NON_NULL) {
            throw annotated.refuse(
                    "onUnavailable",
                    OnUnavailable.SKIP,
                    "is not supported for a return type that is not nullable: a skipped call would return null. Return "
                            + returned.getSimpleName() + "? (in Java: @Nullable) or an Optional");
        }
    }

    /**
     * Whether the calling thread is that of Spring's executor, which is to run the method and waits for the future that it
     * returns. It can wait for the permits as well.
     */
    private static boolean isAsync(AnnotatedMethod annotated) {
        return AnnotatedElementUtils.hasAnnotation(annotated.method(), Async.class)
                || AnnotatedElementUtils.hasAnnotation(annotated.targetClass(), Async.class);
    }

    private MethodGuard reactive(AnnotatedMethod annotated, RequestFactory requests, Refusal refusal) {
        ReactiveAdapter adapter = returnTypes.adapterOf(annotated).orElseThrow();
        if (annotated.annotation().onUnavailable() == OnUnavailable.SKIP && !adapter.supportsEmpty()) {
            throw annotated.refuse(
                    "onUnavailable",
                    OnUnavailable.SKIP,
                    "is not supported for the return type "
                            + adapter.getReactiveType().getName() + ", which cannot be empty");
        }
        return new ReactiveGuard(this::operations, requests, refusal, adapter, releases);
    }

    /**
     * Looks the operations up on first use. Uses no lock: the supplier usually creates a bean under a lock of Spring's, and a
     * bean may call a guarded method while it is being created. A repeated look-up is harmless.
     */
    private SemaphoreOperations operations() {
        SemaphoreOperations known = operations;
        if (known == null) {
            known = supplier.get();
            operations = known;
        }
        return known;
    }

    /**
     * Returns an executor for releases of callers that must not be blocked, such as event loops, and for methods whose permits
     * such a caller holds at once. It has one thread for each of them at a time, since a release must not queue behind dependent
     * actions that an earlier one runs on the same thread; there are never more of them than grants are held.
     */
    private static Executor releasesOnThreads() {
        return new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                new DaemonThreads().numbered("semaphore-guard"));
    }
}
