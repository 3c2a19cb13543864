package io.dbsemaphore.aop;

import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.concurrent.DaemonThreads;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.core.ReactiveAdapter;
import org.springframework.util.ClassUtils;

/**
 * Guards {@link io.dbsemaphore.annotation.WithPermits} methods. The starter declares it. Without the starter, declare it as a
 * bean, with {@code ROLE_INFRASTRUCTURE} if only infrastructure advisors are applied:
 *
 * <pre>{@code
 * @Bean
 * @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
 * static WithPermitsAdvisor withPermitsAdvisor(ObjectProvider<SemaphoreOperations> operations, BeanFactory beanFactory) {
 *     return new WithPermitsAdvisor(operations::getObject, beanFactory);
 * }
 * }</pre>
 *
 * <p>An invalid annotation fails the creation of its bean with an {@link IllegalStateException}.
 *
 * <p>The advice is ordered before transaction advice, which has {@code LOWEST_PRECEDENCE}: the permits are acquired before the
 * transaction of a method begins and released after it has committed. {@code @Async}, {@code @Retryable} and
 * {@code @ConcurrencyLimit} come before all advisors, so that each retry is a separate acquire.
 */
public class WithPermitsAdvisor extends StaticMethodMatcherPointcutAdvisor {

    /** The default order: outside transactions, with room for advice that must be further out, such as security. */
    public static final int DEFAULT_ORDER = 1000;

    private static final long serialVersionUID = 1L;

    /** Each guard is created once, after everything that can be checked at start-up has been checked. */
    private final transient Map<Class<?>, Map<Method, MethodGuard>> byClass = new ConcurrentHashMap<>();

    private final transient Map<String, String> literalNames = new ConcurrentHashMap<>();
    private final transient Supplier<? extends SemaphoreOperations> supplier;
    private final transient BeanFactory beanFactory;
    private final transient Advice advice = (MethodInterceptor) this::invoke;
    private transient volatile @Nullable SemaphoreOperations operations;

    /**
     * Releases permits for threads that must not be blocked, such as event loops, and calls methods after an asynchronous acquire. Each
     * task needs a thread of its own: a release must not wait for dependent actions that run after an earlier release. There are never more
     * tasks than held grants.
     */
    private final transient Executor threads;

    /**
     * Creates an advisor with the {@linkplain #DEFAULT_ORDER default order} and {@linkplain #ownThreads() threads of its own}.
     *
     * @param operations supplies the operations; called when the first guarded method is called
     * @param beanFactory resolves the placeholders and bean references of annotations
     */
    public WithPermitsAdvisor(Supplier<? extends SemaphoreOperations> operations, BeanFactory beanFactory) {
        this(operations, beanFactory, DEFAULT_ORDER, ownThreads());
    }

    /**
     * Creates an advisor.
     *
     * @param operations supplies the operations. It is not called before the first guarded method is, because advisors are created before
     *     ordinary beans, and must not initialize a {@code DataSource} early
     * @param beanFactory resolves the placeholders and bean references of annotations
     * @param order the position of the advice; a lower value is further out
     * @param threads releases permits when a future or publisher completes, and then runs the dependent actions of the caller. It must
     *     run each task at once, like the engine's {@code applicationThreads()}
     */
    public WithPermitsAdvisor(
            Supplier<? extends SemaphoreOperations> operations, BeanFactory beanFactory, int order, Executor threads) {
        this.supplier = operations;
        this.beanFactory = beanFactory;
        this.threads = threads;
        // Checks all annotations of a class before it is proxied: Spring stops asking for methods at the first match
        setClassFilter(
                type -> isAheadOfTime() ? hasPermits(type) : !guardsOf(type).isEmpty());
        setOrder(order);
    }

    /** {@return threads for an advisor without an engine: one for each task, which ends after a minute without a task} */
    public static Executor ownThreads() {
        return Executors.newCachedThreadPool(new DaemonThreads().numbered("semaphore-guard"));
    }

    /**
     * {@return the names that contain no expression, from the annotations of all classes processed so far; each with a method that uses it}
     */
    public Map<String, String> literalNames() {
        return Map.copyOf(literalNames);
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        return isAheadOfTime() || find(method, targetClass) != null;
    }

    private static boolean isAheadOfTime() {
        return Boolean.getBoolean(AbstractAotProcessor.AOT_PROCESSING);
    }

    /** Whether a class has annotated methods. Resolves no placeholders, whose values may be unknown at build time. */
    private static boolean hasPermits(Class<?> type) {
        List<AnnotatedMethod> annotated = AnnotatedMethod.allOf(ClassUtils.getUserClass(type));
        annotated.forEach(ReturnTypes::requireKnownEnd);
        return !annotated.isEmpty();
    }

    @Override
    public Advice getAdvice() {
        return advice;
    }

    /** The guard of a method, which may be declared by an interface or a superclass. */
    private @Nullable MethodGuard find(Method method, @Nullable Class<?> targetClass) {
        Class<?> type = targetClass == null ? method.getDeclaringClass() : targetClass;
        Map<Method, MethodGuard> guards = guardsOf(type);
        return guards.isEmpty() ? null : guards.get(AopUtils.getMostSpecificMethod(method, type));
    }

    private @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = invocation.getThis();
        if (target instanceof Advised proxy && guards(proxy, invocation.getMethod())) {
            return invocation.proceed();
        }
        // The class that the pointcut was asked about: the target may be a proxy with interfaces that its own target
        // lacks
        Class<?> targetClass = target == null ? invocation.getMethod().getDeclaringClass() : target.getClass();
        MethodGuard guard = find(invocation.getMethod(), targetClass);
        if (guard == null) {
            throw new IllegalStateException(
                    "No @WithPermits applies to " + invocation.getMethod() + " of " + targetClass.getName());
        }
        return guard.invoke(invocation);
    }

    /** Whether a proxy of another auto-proxy creator acquires the permits itself. */
    private boolean guards(Advised proxy, Method method) {
        Class<?> targetClass = proxy.getTargetClass();
        return targetClass != null
                && Stream.of(proxy.getAdvisors()).anyMatch(advisor -> advisor == this)
                && find(method, targetClass) != null;
    }

    /**
     * The guards by the most specific method of the class.
     *
     * @throws IllegalStateException if an annotation of the class is invalid
     */
    private Map<Method, MethodGuard> guardsOf(Class<?> targetClass) {
        Class<?> userClass = ClassUtils.getUserClass(targetClass);
        Map<Method, MethodGuard> guards = byClass.get(userClass);
        if (guards == null) {
            // Not in computeIfAbsent: resolving a placeholder may run application code, which may create beans
            Map<Method, MethodGuard> created = new HashMap<>();
            for (AnnotatedMethod annotated : AnnotatedMethod.allOf(userClass)) {
                created.computeIfAbsent(
                        AopUtils.getMostSpecificMethod(annotated.method(), userClass), method -> create(annotated));
            }
            guards = Map.copyOf(created);
            byClass.putIfAbsent(userClass, guards);
        }
        return guards;
    }

    private MethodGuard create(AnnotatedMethod annotated) {
        ReturnTypes.requireKnownEnd(annotated);
        RequestTemplate requests = new RequestTemplate(annotated, beanFactory);
        requests.literalNames().forEach(name -> literalNames.putIfAbsent(name, annotated.toString()));
        ReactiveAdapter reactive = ReturnTypes.adapterOf(annotated);
        Refusal refusal = Refusal.of(annotated, reactive);
        MethodGuard.Parts parts = new MethodGuard.Parts(annotated, this::operations, requests, refusal, threads);
        if (reactive != null) {
            return new ReactiveGuard(parts, reactive);
        }
        return ReturnTypes.isFuture(annotated) ? new FutureGuard(parts) : new SynchronousGuard(parts);
    }

    /**
     * Looks up the operations on first use, without a lock: the supplier usually creates a bean under a lock of Spring's, and a
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
}
