package io.dbsemaphore.aop;

import io.dbsemaphore.annotation.WithPermits;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;

/**
 * A method and the annotation that applies to it. Builds the exceptions for annotations that cannot work, so that each
 * names the method, the attribute and its value.
 *
 * @param method the most specific method of the class
 * @param targetClass the class of the bean
 * @param annotation the merged annotation of the method or of a type
 */
record AnnotatedMethod(Method method, Class<?> targetClass, WithPermits annotation) {

    /** The return type, with the type variables that the class resolves. */
    ResolvableType returnType() {
        return ResolvableType.forMethodReturnType(method, targetClass);
    }

    IllegalStateException refuse(String problem) {
        return refuse(problem, (Throwable) null);
    }

    IllegalStateException refuse(String attribute, Object value, String problem) {
        return refuse(attribute, value, problem, null);
    }

    IllegalStateException refuse(String attribute, Object value, String problem, @Nullable Throwable cause) {
        String shown = value instanceof String ? "\"" + value + "\"" : value.toString();
        return refuse(attribute + " = " + shown + " " + problem, cause);
    }

    private IllegalStateException refuse(String problem, @Nullable Throwable cause) {
        return new UnguardableMethodException("@WithPermits on " + this + ": " + problem, cause);
    }

    /** The class, the method and its parameter types. */
    @Override
    public String toString() {
        Class<?> shown = Proxy.isProxyClass(targetClass) ? method.getDeclaringClass() : targetClass;
        return Arrays.stream(method.getParameterTypes())
                .map(Class::getSimpleName)
                .collect(Collectors.joining(", ", shown.getName() + "." + method.getName() + "(", ")"));
    }
}
