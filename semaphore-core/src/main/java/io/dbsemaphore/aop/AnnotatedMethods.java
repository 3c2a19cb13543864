package io.dbsemaphore.aop;

import io.dbsemaphore.annotation.WithPermits;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the methods of a class that an annotation applies to: an annotation of the method or of a method that it
 * overrides, else of a type. Rejects annotated methods that a proxy cannot intercept.
 */
final class AnnotatedMethods {

    private static final List<Method> OBJECT_METHODS = List.of(Object.class.getDeclaredMethods());

    private final Class<?> targetClass;
    private final List<Method> interfaceMethods;
    private final List<Method> annotatedInterfaceMethods;
    private final Optional<WithPermits> ofType;

    private AnnotatedMethods(Class<?> targetClass) {
        this.targetClass = targetClass;
        this.interfaceMethods = ClassUtils.getAllInterfacesForClassAsSet(targetClass).stream()
                .flatMap(type -> Stream.of(type.getMethods()))
                .filter(AnnotatedMethods::isOverridable)
                .toList();
        this.annotatedInterfaceMethods =
                interfaceMethods.stream().filter(it -> find(it).isPresent()).toList();
        this.ofType = find(targetClass);
    }

    /** @throws IllegalStateException if one of the methods cannot be guarded */
    static List<AnnotatedMethod> of(Class<?> targetClass) {
        if (!AnnotationUtils.isCandidateClass(targetClass, WithPermits.class)) {
            return List.of();
        }
        AnnotatedMethods methods = new AnnotatedMethods(targetClass);
        return methods.candidates().stream()
                .flatMap(method -> methods.annotated(method).stream())
                .toList();
    }

    private Set<Method> candidates() {
        if (Proxy.isProxyClass(targetClass)) {
            return new LinkedHashSet<>(interfaceMethods);
        }
        Set<Method> candidates = new LinkedHashSet<>();
        for (Method method : ReflectionUtils.getAllDeclaredMethods(targetClass)) {
            Method specific = isOverridable(method) ? AopUtils.getMostSpecificMethod(method, targetClass) : method;
            if (!specific.isSynthetic() || specific.isBridge()) {
                candidates.add(specific);
            }
        }
        return candidates;
    }

    private Optional<AnnotatedMethod> annotated(Method method) {
        Optional<WithPermits> annotation = find(method).or(() -> findOnInterfaces(method));
        if (annotation.isEmpty() && isOverridable(method) && !isObjectMethod(method)) {
            annotation = findOnType(method);
        }
        return annotation.map(found -> interceptable(new AnnotatedMethod(method, targetClass, found)));
    }

    /** Covers a case that the search from the method does not: an interface whose method a superclass implements. */
    private Optional<WithPermits> findOnInterfaces(Method method) {
        return annotatedInterfaceMethods.stream()
                .filter(it -> AopUtils.getMostSpecificMethod(it, targetClass).equals(method))
                .flatMap(it -> find(it).stream())
                .findFirst();
    }

    private Optional<WithPermits> findOnType(Method method) {
        if (ofType.isEmpty() || !Proxy.isProxyClass(targetClass)) {
            return ofType;
        }
        // A proxy also implements other interfaces, such as Spring's Advised
        return Stream.of(targetClass.getInterfaces())
                .filter(type -> method.getDeclaringClass().isAssignableFrom(type))
                .flatMap(type -> find(type).stream())
                .findFirst();
    }

    private static Optional<WithPermits> find(AnnotatedElement element) {
        try {
            return Optional.ofNullable(AnnotatedElementUtils.findMergedAnnotation(element, WithPermits.class));
        } catch (AnnotationConfigurationException contradiction) {
            throw new IllegalStateException(
                    "@WithPermits on " + element + ": " + contradiction.getMessage(), contradiction);
        }
    }

    private static AnnotatedMethod interceptable(AnnotatedMethod annotated) {
        Method method = annotated.method();
        String kind = isObjectMethod(method)
                ? "a method of java.lang.Object"
                : Modifier.toString(method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC | Modifier.FINAL));
        if (!kind.isEmpty()) {
            throw annotated.refuse(
                    "it is " + kind + ", so no proxy can guard it and it would run without permits. Make it"
                            + " an ordinary method (in Kotlin: open), or use SemaphoreOperations.execute in it");
        }
        return annotated;
    }

    private static boolean isOverridable(Method method) {
        return !Modifier.isPrivate(method.getModifiers()) && !Modifier.isStatic(method.getModifiers());
    }

    private static boolean isObjectMethod(Method method) {
        return OBJECT_METHODS.stream()
                .filter(it -> it.getName().equals(method.getName()))
                .anyMatch(it -> Arrays.equals(it.getParameterTypes(), method.getParameterTypes()));
    }
}
