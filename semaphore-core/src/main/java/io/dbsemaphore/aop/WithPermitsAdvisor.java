package io.dbsemaphore.aop;

import io.dbsemaphore.SemaphoreOperations;
import java.util.Map;
import java.util.function.Supplier;
import org.aopalliance.aop.Advice;
import org.springframework.aop.Pointcut;
import org.springframework.aop.support.AbstractPointcutAdvisor;
import org.springframework.beans.factory.BeanFactory;

/**
 * Puts {@link io.dbsemaphore.annotation.WithPermits} methods under their semaphores. Declare it as a bean, with
 * {@code ROLE_INFRASTRUCTURE} where no other advice than Spring's own is proxied:
 *
 * <pre>{@code
 * @Bean
 * @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
 * static WithPermitsAdvisor withPermitsAdvisor(ObjectProvider<SemaphoreOperations> operations, BeanFactory beanFactory) {
 *     return new WithPermitsAdvisor(operations::getObject, beanFactory);
 * }
 * }</pre>
 *
 * <p>An annotation that cannot work is an {@link IllegalStateException} that fails the creation of its bean.
 *
 * <p>Ordered outside of transactions, which are {@code LOWEST_PRECEDENCE}: permits are acquired before the transaction of
 * a method begins and released after it was committed. {@code @Async}, {@code @Retryable} and {@code @ConcurrencyLimit}
 * put themselves before all advisors, so each retry is an acquire of its own.
 */
public class WithPermitsAdvisor extends AbstractPointcutAdvisor {

    /** The default order: outside of transactions, with room for what is to be even further out, such as security. */
    public static final int DEFAULT_ORDER = 1000;

    private static final long serialVersionUID = 1L;

    private final transient GuardRegistry guards;
    private final transient Pointcut pointcut;
    private final transient Advice advice;

    /** Creates an advisor of the {@linkplain #DEFAULT_ORDER default order}. */
    public WithPermitsAdvisor(Supplier<? extends SemaphoreOperations> operations, BeanFactory beanFactory) {
        this(operations, beanFactory, DEFAULT_ORDER);
    }

    /**
     * Creates an advisor.
     *
     * @param operations asked for the first time when the first guarded method is called: advisors are made before
     *     ordinary beans, and must not pull a {@code DataSource} in early
     * @param beanFactory resolves the placeholders and bean references of annotations
     * @param order where the advice stands among others; a lower value is further out
     */
    public WithPermitsAdvisor(Supplier<? extends SemaphoreOperations> operations, BeanFactory beanFactory, int order) {
        this.guards = new GuardRegistry(new GuardFactory(operations, beanFactory));
        this.pointcut = new WithPermitsPointcut(guards);
        this.advice = new WithPermitsInterceptor(guards);
        setOrder(order);
    }

    /**
     * The names without expressions in the annotations of all classes that were looked at so far, each with a method that
     * has it.
     */
    public Map<String, String> literalNames() {
        return guards.literalNames();
    }

    @Override
    public Pointcut getPointcut() {
        return pointcut;
    }

    @Override
    public Advice getAdvice() {
        return advice;
    }
}
