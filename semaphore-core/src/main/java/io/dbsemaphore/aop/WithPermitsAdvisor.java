package io.dbsemaphore.aop;

import io.dbsemaphore.SemaphoreOperations;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.function.Supplier;
import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.beans.factory.BeanFactory;

/**
 * Guards {@link io.dbsemaphore.annotation.WithPermits} methods. The starter declares it; without the starter, declare
 * it as a bean, with {@code ROLE_INFRASTRUCTURE} if only Spring's infrastructure advisors are applied:
 *
 * <pre>{@code
 * @Bean
 * @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
 * static WithPermitsAdvisor withPermitsAdvisor(ObjectProvider<SemaphoreOperations> operations, BeanFactory beanFactory) {
 *     return new WithPermitsAdvisor(operations::getObject, beanFactory);
 * }
 * }</pre>
 *
 * <p>An annotation that cannot work fails the creation of its bean with an {@link IllegalStateException}.
 *
 * <p>Ordered before transaction advice, which has {@code LOWEST_PRECEDENCE}: the permits are acquired before the
 * transaction of a method begins and released after it has committed. {@code @Async}, {@code @Retryable} and
 * {@code @ConcurrencyLimit} come before all advisors, so that each retry is a separate acquire.
 */
public class WithPermitsAdvisor extends StaticMethodMatcherPointcutAdvisor {

    /** The default order: outside transactions, with room for advice that must be further out, such as security. */
    public static final int DEFAULT_ORDER = 1000;

    private static final long serialVersionUID = 1L;

    private final transient Guards guards;
    private final transient Advice advice;

    /**
     * Creates an advisor with the {@linkplain #DEFAULT_ORDER default order}.
     *
     * @param operations supplies the operations; called when the first guarded method is called
     * @param beanFactory resolves the placeholders and bean references of annotations
     */
    public WithPermitsAdvisor(Supplier<? extends SemaphoreOperations> operations, BeanFactory beanFactory) {
        this(operations, beanFactory, DEFAULT_ORDER);
    }

    /**
     * Creates an advisor.
     *
     * @param operations supplies the operations; called when the first guarded method is called, since advisors are
     *     created before ordinary beans and must not initialize a {@code DataSource} early
     * @param beanFactory resolves the placeholders and bean references of annotations
     * @param order the position of the advice; a lower value is further out
     */
    public WithPermitsAdvisor(Supplier<? extends SemaphoreOperations> operations, BeanFactory beanFactory, int order) {
        this.guards = new Guards(operations, beanFactory);
        this.advice = (MethodInterceptor) guards::invoke;
        // Checks all annotations of a class before it is proxied: Spring stops asking for methods at the first match
        setClassFilter(guards::existFor);
        setOrder(order);
    }

    /**
     * {@return the names without expressions in the annotations of all classes processed so far, each with one of the
     * methods that uses it}
     */
    public Map<String, String> literalNames() {
        return guards.literalNames();
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        return guards.find(method, targetClass).isPresent();
    }

    @Override
    public Advice getAdvice() {
        return advice;
    }
}
