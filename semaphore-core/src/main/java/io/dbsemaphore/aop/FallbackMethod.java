package io.dbsemaphore.aop;

import io.dbsemaphore.PermitsUnavailableException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.core.ResolvableType;
import org.springframework.util.ReflectionUtils;

/** Calls another method of the target with the same arguments, followed by the exception if the method declares it. */
final class FallbackMethod implements Refusal {

    private final Method method;
    private final boolean takesException;

    private FallbackMethod(Method method, boolean takesException) {
        this.method = method;
        this.takesException = takesException;
        ReflectionUtils.makeAccessible(method);
    }

    /**
     * Finds the fallback method that the annotation names; of two overloads, the one that takes the exception.
     *
     * @throws IllegalStateException if no method matches
     */
    static FallbackMethod of(AnnotatedMethod annotated) {
        String name = annotated.annotation().fallbackMethod();
        List<Class<?>> parameters = parameterTypes(annotated.method(), annotated.targetClass());
        List<Class<?>> withException = new ArrayList<>(parameters);
        withException.add(PermitsUnavailableException.class);
        List<Method> named = methods(annotated.targetClass())
                .filter(method -> method.getName().equals(name))
                .filter(method -> !method.isBridge() && !method.equals(annotated.method()))
                .toList();
        for (List<Class<?>> accepted : List.of(withException, parameters)) {
            for (Method method : named) {
                if (parameterTypes(method, annotated.targetClass()).equals(accepted)) {
                    requireReturnType(annotated, method);
                    return new FallbackMethod(method, accepted == withException);
                }
            }
        }
        throw annotated.refuse(
                "fallbackMethod",
                name,
                (named.isEmpty() ? "is no other method of the class" : "has other parameters: " + named)
                        + ". It needs the same parameters " + parameters
                        + ", optionally followed by a PermitsUnavailableException");
    }

    @Override
    public @Nullable Object answer(MethodInvocation invocation, PermitsUnavailableException refused) throws Throwable {
        @Nullable Object[] arguments = invocation.getArguments();
        if (takesException) {
            arguments = Arrays.copyOf(arguments, arguments.length + 1);
            arguments[arguments.length - 1] = refused;
        }
        try {
            return method.invoke(target(invocation.getThis()), arguments);
        } catch (InvocationTargetException thrown) {
            throw thrown.getTargetException();
        }
    }

    /** The object itself where the target is a proxy already: a private method would see the empty fields of that proxy. */
    private @Nullable Object target(@Nullable Object object) {
        Object inner = object == null ? null : AopProxyUtils.getSingletonTarget(object);
        return method.getDeclaringClass().isInstance(inner) ? target(inner) : object;
    }

    private static Stream<Method> methods(Class<?> targetClass) {
        return Proxy.isProxyClass(targetClass)
                ? Stream.of(targetClass.getInterfaces()).flatMap(type -> Stream.of(type.getMethods()))
                : Stream.of(ReflectionUtils.getUniqueDeclaredMethods(targetClass));
    }

    private static List<Class<?>> parameterTypes(Method method, Class<?> targetClass) {
        List<Class<?>> types = new ArrayList<>();
        for (int i = 0; i < method.getParameterCount(); i++) {
            types.add(ResolvableType.forMethodParameter(method, i, targetClass).toClass());
        }
        return types;
    }

    private static void requireReturnType(AnnotatedMethod annotated, Method method) {
        Class<?> needed = annotated.returnType().toClass();
        Class<?> returned = ResolvableType.forMethodReturnType(method, annotated.targetClass())
                .toClass();
        if (!needed.isAssignableFrom(returned)) {
            throw annotated.refuse(
                    "fallbackMethod",
                    method.getName(),
                    "returns %s, which is not assignable to %s. Return the same type"
                            .formatted(returned.getName(), needed.getName()));
        }
    }
}
