package io.dbsemaphore.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodClassKey;
import org.springframework.util.ClassUtils;

/** The guards of all classes that were looked up, each created once. */
final class GuardRegistry {

    private final GuardFactory factory;
    private final Map<Class<?>, Map<Signature, MethodGuard>> guardsByClass = new ConcurrentHashMap<>();
    private final Map<MethodClassKey, Optional<MethodGuard>> guardsByMethod = new ConcurrentHashMap<>();

    GuardRegistry(GuardFactory factory) {
        this.factory = factory;
    }

    /** @throws IllegalStateException if an annotation of the class cannot work */
    boolean hasGuards(Class<?> targetClass) {
        return !guardsOf(targetClass).isEmpty();
    }

    /** The guard of a method, which may be declared by an interface or a superclass. */
    Optional<MethodGuard> find(Method method, @Nullable Class<?> targetClass) {
        Class<?> type = targetClass == null ? method.getDeclaringClass() : targetClass;
        Map<Signature, MethodGuard> guards = guardsOf(type);
        if (guards.isEmpty()) {
            return Optional.empty();
        }
        return guardsByMethod.computeIfAbsent(
                new MethodClassKey(method, type), key -> Optional.ofNullable(guards.get(Signature.of(method, type))));
    }

    private Map<Signature, MethodGuard> guardsOf(Class<?> targetClass) {
        Class<?> userClass = ClassUtils.getUserClass(targetClass);
        Map<Signature, MethodGuard> guards = guardsByClass.get(userClass);
        if (guards == null) {
            // Not in computeIfAbsent: resolving a placeholder may run application code, which may create beans
            guards = create(userClass);
            guardsByClass.putIfAbsent(userClass, guards);
        }
        return guards;
    }

    private Map<Signature, MethodGuard> create(Class<?> targetClass) {
        Map<Signature, MethodGuard> guards = new HashMap<>();
        for (AnnotatedMethod annotated : AnnotatedMethods.of(targetClass)) {
            guards.put(Signature.of(annotated.method(), targetClass), factory.create(annotated));
        }
        return Map.copyOf(guards);
    }

    /** Identifies a method within a class, independent of the type that declares it. */
    private record Signature(String name, List<Class<?>> parameterTypes) {

        static Signature of(Method method, Class<?> targetClass) {
            // A proxy class is characterized by its interfaces, not by its own methods
            Method specific =
                    Proxy.isProxyClass(targetClass) ? method : AopUtils.getMostSpecificMethod(method, targetClass);
            return new Signature(specific.getName(), List.of(specific.getParameterTypes()));
        }
    }
}
