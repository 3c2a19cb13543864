package io.dbsemaphore.aop;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreName;
import java.util.LinkedHashMap;
import java.util.Map;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * Creates the request of a call by evaluating the expressions of the annotation. A request without expressions is
 * created once.
 */
final class RequestFactory {

    private final WithPermitsOperation operation;
    private final BeanFactoryResolver beans;
    private final @Nullable AcquireRequest constant;

    /** @throws IllegalStateException if the annotation has no expressions and its request is invalid */
    RequestFactory(WithPermitsOperation operation, BeanFactory beanFactory) {
        this.operation = operation;
        this.beans = new BeanFactoryResolver(beanFactory);
        try {
            this.constant = operation.isConstant() ? create(operation, new StandardEvaluationContext()) : null;
        } catch (IllegalArgumentException invalid) {
            throw new IllegalStateException(invalid.getMessage(), invalid);
        }
    }

    /** @throws IllegalArgumentException if an expression fails, or evaluates to an invalid value */
    AcquireRequest create(MethodInvocation invocation) {
        return constant != null ? constant : create(operation, context(invocation));
    }

    private EvaluationContext context(MethodInvocation invocation) {
        AnnotatedMethod annotated = operation.annotated();
        MethodBasedEvaluationContext context = new MethodBasedEvaluationContext(
                new InvocationRoot(annotated, invocation),
                annotated.method(),
                invocation.getArguments(),
                DefaultParameterNameDiscoverer.getSharedInstance());
        context.setBeanResolver(beans);
        return context;
    }

    private static AcquireRequest create(WithPermitsOperation operation, EvaluationContext context) {
        Map<String, Integer> permits = permits(operation, context);
        AcquireRequest request = AcquireRequest.of(permits.keySet().toArray(String[]::new))
                .withWaitTime(operation.waitTime())
                .withKeepAlive(operation.keepAlive());
        for (Map.Entry<String, Integer> permit : permits.entrySet()) {
            if (permit.getValue() != 1) {
                request = request.withPermits(permit.getKey(), permit.getValue());
            }
        }
        if (operation.exclusive()) {
            request = request.exclusive();
        }
        if (operation.ttl() != null) {
            request = request.withTtl(operation.ttl());
        }
        if (operation.maxHold() != null) {
            request = request.withMaxHold(operation.maxHold());
        }
        return operation.owner() == null ? request : withOwner(request, operation.owner(), context);
    }

    private static AcquireRequest withOwner(AcquireRequest request, TextTemplate owner, EvaluationContext context) {
        String value = owner.evaluate(context);
        try {
            return request.withOwner(value);
        } catch (IllegalArgumentException invalid) {
            throw owner.refuse("is not valid. " + invalid.getMessage(), invalid);
        }
    }

    private static Map<String, Integer> permits(WithPermitsOperation operation, EvaluationContext context) {
        Map<String, Integer> permits = new LinkedHashMap<>();
        for (WithPermitsOperation.Claim claim : operation.claims()) {
            String name = claim.name().evaluate(context);
            try {
                SemaphoreName.requireValid(name);
            } catch (IllegalArgumentException invalid) {
                throw claim.name().refuse("is not valid. " + invalid.getMessage(), invalid);
            }
            if (permits.put(name, claim.count()) != null) {
                throw claim.name().refuse("repeats '" + name + "'. " + WithPermitsParser.NAMES_ONCE, null);
            }
        }
        return permits;
    }
}
