package io.dbsemaphore.aop;

import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.annotation.OnUnavailable;
import io.dbsemaphore.annotation.WithPermits;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.Nullness;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ResolvableType;
import org.springframework.util.ObjectUtils;
import org.springframework.util.ReflectionUtils;

/** Handles a call whose acquire was refused: throws, skips, or calls a fallback method, as the annotation says. */
@FunctionalInterface
interface Refusal {

    Logger log = LoggerFactory.getLogger(Refusal.class);

    /** The result of a skipped call by type; null for other types. */
    Map<Class<?>, Object> EMPTY = Map.of(
            Optional.class, Optional.empty(),
            OptionalInt.class, OptionalInt.empty(),
            OptionalLong.class, OptionalLong.empty(),
            OptionalDouble.class, OptionalDouble.empty());

    /**
     * Handles the call in place of the method.
     *
     * @return the result; {@code null} if there is none
     * @throws Throwable the exception to throw to the caller
     */
    @Nullable Object answer(MethodInvocation invocation, PermitsUnavailableException refused) throws Throwable;

    /**
     * Creates the handler that the annotation asks for.
     *
     * @param reactive the adapter of the return type; null if that is not a reactive type
     * @throws IllegalStateException if it cannot work for this method
     */
    static Refusal of(AnnotatedMethod annotated, @Nullable ReactiveAdapter reactive) {
        WithPermits annotation = annotated.annotation();
        boolean skip = annotation.onUnavailable() == OnUnavailable.SKIP;
        if (annotation.fallbackMethod().isEmpty()) {
            return skip
                    ? skip(annotated, reactive)
                    : (invocation, refused) -> {
                        throw refused;
                    };
        }
        if (skip) {
            throw annotated.refuse(
                    "fallbackMethod",
                    annotation.fallbackMethod(),
                    "contradicts onUnavailable = SKIP, which calls nothing. Leave one of them out");
        }
        return fallback(annotated);
    }

    /** Returns an empty value of the return type, otherwise null. */
    private static Refusal skip(AnnotatedMethod annotated, @Nullable ReactiveAdapter reactive) {
        Class<?> returned = annotated.returnType().toClass();
        boolean isFuture = ReturnTypes.isFuture(annotated);
        Object empty = EMPTY.get(returned);
        if (returned.isPrimitive() && returned != void.class) {
            throw cannotSkip(
                    annotated, "the return type %1$s. Return an Optional or the wrapper of %1$s".formatted(returned));
        }
        if (reactive != null && !reactive.supportsEmpty()) {
            throw cannotSkip(annotated, "the return type " + returned.getName() + ", which cannot be empty");
        }
        // Callers in Kotlin or with a null checker do not expect null for every type
        if (empty == null
                && reactive == null
                && returned != void.class
                && !isFuture
                && Nullness.forMethodReturnType(annotated.method()) == Nullness.NON_NULL) {
            throw cannotSkip(
                    annotated,
                    "a return type that is not nullable: a skipped call would return null. Return "
                            + returned.getSimpleName() + "? (in Java: @Nullable) or an Optional");
        }
        return (invocation, refused) -> {
            log.debug("Skipped {}: {}", annotated, refused.getMessage());
            return isFuture ? CompletableFuture.completedFuture(null) : empty;
        };
    }

    private static IllegalStateException cannotSkip(AnnotatedMethod annotated, String unsupported) {
        return annotated.refuse("onUnavailable", OnUnavailable.SKIP, "is not supported for " + unsupported);
    }

    /**
     * Calls another method of the target with the same arguments, followed by the exception if the method declares it. Of two overloads it
     * calls the one with the exception.
     */
    private static Refusal fallback(AnnotatedMethod annotated) {
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
                    return (invocation, refused) -> {
                        @Nullable Object[] arguments = accepted == withException
                                ? ObjectUtils.addObjectToArray(invocation.getArguments(), refused)
                                : invocation.getArguments();
                        return AopUtils.invokeJoinpointUsingReflection(
                                target(invocation.getThis(), method), method, arguments);
                    };
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

    private static Stream<Method> methods(Class<?> targetClass) {
        return Proxy.isProxyClass(targetClass)
                ? Stream.of(targetClass.getInterfaces()).flatMap(type -> Stream.of(type.getMethods()))
                : Stream.of(ReflectionUtils.getUniqueDeclaredMethods(targetClass));
    }

    private static List<Class<?>> parameterTypes(Method method, Class<?> targetClass) {
        return IntStream.range(0, method.getParameterCount())
                .<Class<?>>mapToObj(i -> ResolvableType.forMethodParameter(method, i, targetClass)
                        .toClass())
                .toList();
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

    /** The object behind the proxies: on a proxy, a private method would see empty fields. */
    private static @Nullable Object target(@Nullable Object object, Method method) {
        Object inner = object == null ? null : AopProxyUtils.getSingletonTarget(object);
        return method.getDeclaringClass().isInstance(inner) ? target(inner, method) : object;
    }
}
