package io.dbsemaphore.aop;

import java.lang.reflect.Method;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * The root object ({@code #root}) of the expressions in an annotation. Its getters are the properties that expressions
 * can use.
 */
final class InvocationRoot {

    private final AnnotatedMethod annotated;
    private final MethodInvocation invocation;

    InvocationRoot(AnnotatedMethod annotated, MethodInvocation invocation) {
        this.annotated = annotated;
        this.invocation = invocation;
    }

    public String getMethodName() {
        return annotated.method().getName();
    }

    public Method getMethod() {
        return annotated.method();
    }

    public @Nullable Object[] getArgs() {
        return invocation.getArguments();
    }

    public @Nullable Object getTarget() {
        return invocation.getThis();
    }

    public Class<?> getTargetClass() {
        return annotated.targetClass();
    }
}
