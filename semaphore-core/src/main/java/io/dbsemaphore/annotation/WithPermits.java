package io.dbsemaphore.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;

/**
 * Runs a method only while it holds permits of all the named semaphores: they are acquired, all or none, before the
 * method and released when its work has ended.
 *
 * <pre>{@code
 * @WithPermits(names = {"backup", "network"}, ttl = "30m", waitTime = "10s")
 * public void backUp(Snapshot snapshot) { ... }
 *
 * @WithPermits(names = "tenant:#{#tenant.id}", onUnavailable = OnUnavailable.SKIP)
 * public Optional<Report> report(Tenant tenant) { ... }
 * }</pre>
 *
 * <p><b>On a type</b> it applies to each method that can be called through the bean's proxy, inherited ones included,
 * each call being an acquire of its own; an annotation on a method replaces it. The methods of {@link Object} are never
 * guarded. It may be put on an interface, and used as a meta-annotation.
 *
 * <p><b>When the work has ended</b> depends on the declared return type. {@code CompletableFuture} and
 * {@code CompletionStage}: when it completes or is cancelled (cancelling a {@code CompletableFuture} does not stop the
 * code that computes it). {@code Mono}, {@code Flux} and the other types of Spring's {@code ReactiveAdapterRegistry},
 * where Reactor is on the classpath: the method is called on each subscription, after an acquire of its own, and the
 * permits are released on completion, error or cancellation. All others: when the method returns. What is known to end
 * later than that (a plain {@code Future}, a {@code Callable}, a {@code Stream}, ...) is refused at start-up. A method
 * with {@code @Async} is guarded on the thread that runs it.
 *
 * <p><b>Where it is called</b>: a method that returns a {@code Mono}, a {@code Flux} or the like is called on
 * {@code boundedElastic}. One that returns a {@code CompletableFuture} or {@code CompletionStage} is called on the calling
 * thread, unless it has a {@code waitTime}: then the call returns a future at once, no thread waits, and the method is called on
 * a thread of the library when the permits are held, without the thread-locals of its caller; a refusal completes the future
 * exceptionally. All others are called on the calling thread, which waits.
 *
 * <p><b>Inside the method</b> {@link io.dbsemaphore.Permits#current()} is the grant, on the thread that called it.
 *
 * <p><b>Transactions</b>: by default the permits are acquired before a transaction of the same method begins and
 * released after it has ended; see the order of the advisor. A transaction that the caller has already begun stays open,
 * with its connection, while the permits are waited for.
 *
 * <p><b>Self-invocation</b>: a call from within the same object does not pass the proxy and is not guarded. Assert it
 * with {@link io.dbsemaphore.PermitAssert#assertHeld} where it matters. Methods that no proxy can guard (private, static,
 * final) are refused at start-up, as is every attribute that cannot work.
 *
 * @see io.dbsemaphore.SemaphoreOperations#execute
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
public @interface WithPermits {

    /** Alias for {@link #names()}, for when no other attribute is needed: {@code @WithPermits("backup")}. */
    @AliasFor("names")
    String[] value() default {};

    /**
     * The semaphores; at least one.
     *
     * <p>Placeholders (<code>${...}</code>) are resolved at start-up. Expressions in <code>#{...}</code> are SpEL and are
     * evaluated at each call, before anything is acquired: over the arguments by name ({@code #snapshot.id}, which needs
     * {@code -parameters}) or index ({@code #p0}, {@code #a0}), over {@code #root} with {@code methodName},
     * {@code method}, {@code args}, {@code target} and {@code targetClass}, and over beans ({@code @bean}). One that
     * fails or yields {@code null}, on its own or in the midst of a name, is an {@link IllegalArgumentException}. Names
     * that turn out to be equal are merged, and their permits added up.
     */
    @AliasFor("value")
    String[] names() default {};

    /** The number of permits: one for all names, or one for each. Default: 1. */
    int[] permits() default {1};

    /**
     * How long the grant lasts unless it is kept alive: {@code 30s}, {@code 1h30m}, {@code PT30S} or a placeholder; at
     * least 1 s. Default: {@code semaphore.default-ttl}.
     */
    String ttl() default "";

    /** How long to wait for the permits, in the notations of {@link #ttl()}. Default: not at all. */
    String waitTime() default "";

    /**
     * Where the keep-alive ends, in the notations of {@link #ttl()}; the time to live does the rest. Default:
     * {@code semaphore.max-hold}.
     */
    String maxHold() default "";

    /**
     * Who operators see holding the permits, with placeholders and expressions as in {@link #names()}. Default: this
     * application instance.
     */
    String owner() default "";

    /**
     * Whether the grant is renewed while the work runs. Default: true. Otherwise it is lost when the time to live has
     * passed, even though the work goes on.
     */
    boolean keepAlive() default true;

    /**
     * Whether to take the whole capacity of every name, as the write side of a read/write lock does. Default: false.
     * Contradicts {@link #permits()}.
     */
    boolean exclusive() default false;

    /**
     * What to do when the permits did not become free within the wait time. Default:
     * {@link io.dbsemaphore.PermitsUnavailableException}. Alternative: {@link OnUnavailable#SKIP}, or a
     * {@link #fallbackMethod()}. Only this method's own acquire counts, not one that is refused within the method.
     */
    OnUnavailable onUnavailable() default OnUnavailable.THROW;

    /**
     * The method to call instead when the permits did not become free within the wait time: of the same class, with the
     * same parameters, optionally followed by a {@link io.dbsemaphore.PermitsUnavailableException}, and with a return
     * type that fits. May be private. It is called on the target itself, without permits and past its proxy, and what it
     * throws is thrown. Default: none.
     */
    String fallbackMethod() default "";
}
