package io.dbsemaphore.aop;

import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.annotation.OnUnavailable;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.ReactiveAdapter;

/** Creates the guard of an annotated method, after it has checked everything that can be checked at start-up. */
final class GuardFactory {

    private final ReturnTypes returnTypes = new ReturnTypes();
    private final Executor releases = GuardThreads.forReleases();
    private final LazyOperations operations;
    private final BeanFactory beanFactory;
    private final WithPermitsParser parser;
    private final Map<String, String> literalNames = new ConcurrentHashMap<>();

    GuardFactory(Supplier<? extends SemaphoreOperations> operations, BeanFactory beanFactory) {
        this.operations = new LazyOperations(operations);
        this.beanFactory = beanFactory;
        this.parser = new WithPermitsParser(new PlaceholderResolver(beanFactory));
    }

    /** The names without expressions in the annotations processed so far, each with one of the methods that uses it. */
    Map<String, String> literalNames() {
        return Map.copyOf(literalNames);
    }

    /**
     * Creates a guard.
     *
     * @throws IllegalStateException if the annotation cannot work for the method
     */
    MethodGuard create(AnnotatedMethod annotated) {
        ReturnShape shape = returnTypes.shapeOf(annotated);
        WithPermitsOperation operation = parser.parse(annotated);
        operation.claims().stream()
                .map(WithPermitsOperation.Claim::name)
                .filter(TextTemplate::isLiteral)
                .forEach(name -> literalNames.putIfAbsent(name.text(), annotated.toString()));
        RequestFactory requests = new RequestFactory(operation, beanFactory);
        Refusal refusal = Refusals.of(annotated);
        return switch (shape) {
            case SYNCHRONOUS -> synchronous(annotated, new SynchronousGuard(operations, requests, refusal));
            case FUTURE -> new FutureGuard(operations, requests, refusal, releases);
            case REACTIVE -> reactive(annotated, requests, refusal);
        };
    }

    private MethodGuard synchronous(AnnotatedMethod annotated, MethodGuard guard) {
        if (annotated.returnType().toClass() != Object.class) {
            return guard;
        }
        return invocation -> returnTypes.requireEnded(annotated, guard.invoke(invocation));
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
        return new ReactiveGuard(operations, requests, refusal, adapter, releases);
    }
}
