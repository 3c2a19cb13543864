package io.dbsemaphore.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;

/**
 * Runs a method only while it holds permits of all the named semaphores. The permits are acquired, all or none, before
 * the method runs, and released when its work has ended. The grant is kept alive meanwhile.
 *
 * <pre>{@code
 * @WithPermits(names = {"backup", "network"}, waitTime = "10s")
 * public void backUp(Snapshot snapshot) { ... }
 *
 * @WithPermits(names = "tenant:#{#tenant.id}", onUnavailable = OnUnavailable.SKIP)
 * public Optional<Report> report(Tenant tenant) { ... }
 * }</pre>
 *
 * <p><b>On a type</b> the annotation applies to every method that can be called through the bean's proxy, including
 * inherited ones; each call is a separate acquire. An annotation on a method replaces the one on its type. The methods of
 * {@link Object} are never guarded. The annotation may be used on interfaces and as a meta-annotation.
 *
 * <p><b>When the work has ended</b> depends on the declared return type. For a {@code CompletableFuture} or {@code CompletionStage}: when
 * it completes or is cancelled (cancelling a {@code CompletableFuture} does not stop the code that computes it). For {@code Mono},
 * {@code Flux} and the other types of Spring's {@code ReactiveAdapterRegistry}, if Reactor is on the class path: on completion, error or
 * cancellation of the subscription; the method is called for each subscription, after a separate acquire. For all other types: when the
 * method returns. Return types whose work is known to end later (a plain {@code Future}, a {@code Callable}, a {@code Stream}, ...) are
 * rejected at start-up.
 *
 * <p><b>Threads.</b> A method that returns a reactive type is called on Reactor's {@code boundedElastic} scheduler. If a method returns a
 * {@code CompletableFuture} or {@code CompletionStage} and has a {@code waitTime} above zero, the call returns a future at once, and no
 * thread waits: once the permits are held, a thread of the library calls the method, without the thread-locals of the caller. All other
 * methods are called on the calling thread, which waits for the permits. With {@code @Async}, a thread of the executor waits and calls the
 * method, even if the method returns a future; reactive methods are called as above.
 *
 * <p><b>If the acquire or an expression fails,</b> a method that returns a reactive type fails the subscription. A method that
 * returns a future and has a {@code waitTime} above zero fails the future. All other methods throw.
 *
 * <p><b>Inside the method</b> {@link io.dbsemaphore.Permits#current()} returns the grant, on the thread that runs the method.
 *
 * <p><b>Transactions.</b> By default the permits are acquired before a transaction of the same method begins, and
 * released after it has ended; see the order of {@code WithPermitsAdvisor}. A transaction that the caller has already
 * begun stays open, with its connection, while the permits are acquired.
 *
 * <p><b>Self-invocation.</b> A call from within the same object does not pass through the proxy and is not guarded.
 * Check it with {@link io.dbsemaphore.Permits#assertHeld} where that matters.
 *
 * <p><b>Rejected at start-up</b> are methods that a proxy cannot guard (private, static, final, package-private in another package);
 * methods with {@code @PostConstruct} or {@code @PreDestroy}, which Spring does not call through the proxy; invalid attributes; and several
 * annotations that apply to one method, unless one of them overrides the others.
 *
 * @see io.dbsemaphore.SemaphoreOperations#execute
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
public @interface WithPermits {

    /**
     * Alias for {@link #names()}, for use without other attributes: {@code @WithPermits("backup")}.
     *
     * @return the names of the semaphores
     */
    @AliasFor("names")
    String[] value() default {};

    /**
     * The names of the semaphores, at least one.
     *
     * <p>Placeholders (<code>${...}</code>) are resolved at start-up. SpEL expressions in <code>#{...}</code> are
     * evaluated for each call, before anything is acquired. They can use the arguments by name ({@code #snapshot.id},
     * which requires {@code -parameters}) or index ({@code #p0}, {@code #a0}), {@code #root} with {@code methodName},
     * {@code method}, {@code args}, {@code target} and {@code targetClass}, and beans ({@code @bean}).
     *
     * <p>A call throws {@link IllegalArgumentException} if an expression fails, or yields {@code null} or an empty text, even as part of a
     * name: otherwise all such calls would share a semaphore. An expression with the alternative {@code ''} may be empty, as in
     * <code>#{#draft ? '-draft' : ''}</code> and <code>#{#tenant ?: ''}</code>.
     *
     * <p>No name may be repeated, in the annotation or by an expression: for several permits of a semaphore, set {@link #permits()}.
     *
     * @return the names of the semaphores
     */
    @AliasFor("value")
    String[] names() default {};

    /**
     * The number of permits, at least 1: one number for all names, or one for each. Default: 1.
     *
     * @return the number of permits
     */
    int[] permits() default {1};

    /**
     * The time to live of the grant, after which it expires unless it is kept alive: {@code 30s}, {@code 1h30m}, {@code PT30S} or a
     * placeholder; at least 1 second. It does not limit the work; {@link #maxHold()} does. Default: {@code semaphore.defaults.ttl} (5
     * minutes).
     *
     * @return the time to live
     */
    String ttl() default "";

    /**
     * How long to wait for the permits, in the formats of {@link #ttl()}; {@code 0s} means not to wait. Default: the value configured for
     * the semaphores ({@code semaphore.semaphores.<name>.wait-time}), otherwise {@code semaphore.defaults.wait-time} (zero). A configured
     * wait time does not change the thread: the calling thread waits for the permits and calls the method, even if the method returns a
     * future.
     *
     * @return the wait time
     */
    String waitTime() default "";

    /**
     * A priority, in the formats of {@link #ttl()}: the caller queues as if it had arrived this much earlier. Has no effect on a caller
     * that does not wait. Default: none. Upper limit: {@code semaphore.max-head-start} (1 hour).
     *
     * @return the head start
     * @see io.dbsemaphore.AcquireRequest#withHeadStart
     */
    String headStart() default "";

    /**
     * For whom the caller waits, as {@code tenant} or {@code tenant/key}, for example <code>#{#tenant}/#{#user}</code>; placeholders and
     * expressions as in {@link #names()}. Tenants that wait are granted permits by turns, and so are the keys of a tenant. The first
     * {@code /} separates the two, so the tenant must contain none. A call throws {@link IllegalArgumentException} if a semaphore is not
     * fair. Has no effect on a caller that does not wait. Default: none.
     *
     * @return the share
     * @see io.dbsemaphore.AcquireRequest#withShare
     */
    String share() default "";

    /**
     * How long after the acquire the grant ends even if the work goes on, in the formats of {@link #ttl()}; at least 1 second. Its
     * permits are then available to others, and the loss is reported. Default: the value configured for the semaphores
     * ({@code semaphore.semaphores.<name>.max-hold}), otherwise {@code semaphore.defaults.max-hold} (24 hours).
     *
     * @return the maximum hold
     */
    String maxHold() default "";

    /**
     * The owner, which operators see as the holder of the permits; placeholders and expressions as in {@link #names()}.
     * Default: this application instance.
     *
     * @return the owner
     */
    String owner() default "";

    /**
     * The label, which tells operators what holds the permits; placeholders and expressions as in {@link #names()}. Default: the simple
     * name of the class and the method, for example {@code BackupService.backUp}.
     *
     * @return the label
     * @see io.dbsemaphore.AcquireRequest#withLabel
     */
    String label() default "";

    /**
     * Renews the grant while the work runs. Default: true. If false, the grant is lost when its time to live has passed, even if the
     * work is still running, and a shutdown does not wait for the work of a method that returns a future or a publisher.
     *
     * @return whether to keep the grant alive
     */
    boolean keepAlive() default true;

    /**
     * Lets a shutdown of this application instance release the grant of work that has not ended within {@code semaphore.shutdown-timeout}.
     * Default: true. If false, the permits stay held until their time to live has passed, whether the work goes on or not.
     *
     * @return whether to release it
     */
    boolean releaseAtShutdown() default true;

    /**
     * Acquires the whole capacity of every name, like the write side of a read/write lock. Default: false.
     * Cannot be combined with {@link #permits()}.
     *
     * @return whether to acquire the whole capacity
     */
    boolean exclusive() default false;

    /**
     * The action if the permits do not become available within the wait time. Default: throw
     * {@link io.dbsemaphore.PermitsUnavailableException}. Alternatives: {@link OnUnavailable#SKIP}, or a
     * {@link #fallbackMethod()}. Applies to the acquire of this method only, not to acquires within the method.
     *
     * @return the action
     */
    OnUnavailable onUnavailable() default OnUnavailable.THROW;

    /**
     * The name of a method to call instead if the permits do not become available within the wait time: a method of the
     * same class with the same parameters, optionally followed by a {@link io.dbsemaphore.PermitsUnavailableException},
     * and a compatible return type. It may be private. It is called on the target object, not through the proxy,
     * without permits; its exceptions are passed to the caller. Default: none.
     *
     * @return the name of the method
     */
    String fallbackMethod() default "";
}
