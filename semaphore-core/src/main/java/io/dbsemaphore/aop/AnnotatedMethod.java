package io.dbsemaphore.aop;

import io.dbsemaphore.annotation.WithPermits;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * A method and the annotation that applies to it. Builds the exceptions for annotations that cannot work, so that each
 * names the method, the attribute and its value.
 *
 * @param method the most specific method of the class
 * @param targetClass the class of the bean
 * @param annotation the merged annotation of the method or of a type
 */
record AnnotatedMethod(Method method, Class<?> targetClass, WithPermits annotation) {

    /**
     * The methods of a class that an annotation applies to: an annotation of the method or of a method that it overrides,
     * else of a type.
     *
     * @throws IllegalStateException if a proxy cannot intercept one of them
     */
    static List<AnnotatedMethod> allOf(Class<?> targetClass) {
        if (!AnnotationUtils.isCandidateClass(targetClass, WithPermits.class)) {
            return List.of();
        }
        Search search = new Search(targetClass);
        List<AnnotatedMethod> found = search.candidates().stream()
                .flatMap(method -> search.annotated(method).stream())
                .toList();
        found.forEach(AnnotatedMethod::requireInterceptable);
        return found;
    }

    /** The return type, with the type variables that the class resolves. */
    ResolvableType returnType() {
        return ResolvableType.forMethodReturnType(method, targetClass);
    }

    /** Whether the method or its class also has another annotation. */
    boolean has(Class<? extends Annotation> type) {
        return AnnotatedElementUtils.hasAnnotation(method, type)
                || AnnotatedElementUtils.hasAnnotation(targetClass, type);
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

    private void requireInterceptable() {
        String kind = isObjectMethod(method)
                ? "a method of java.lang.Object"
                : Modifier.toString(method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC | Modifier.FINAL));
        if (!kind.isEmpty()) {
            throw refuse("it is " + kind + ", so no proxy can guard it and it would run without permits. Make it"
                    + " an ordinary method (in Kotlin: open), or use SemaphoreOperations.execute in it");
        }
    }

    private static boolean isObjectMethod(Method method) {
        return Stream.of(Object.class.getDeclaredMethods())
                .filter(it -> it.getName().equals(method.getName()))
                .anyMatch(it -> Arrays.equals(it.getParameterTypes(), method.getParameterTypes()));
    }

    /** The search for the annotated methods of one class. */
    private static final class Search {

        private final Class<?> targetClass;
        private final List<Method> interfaceMethods;
        private final List<Method> annotatedInterfaceMethods;
        private final Optional<WithPermits> ofType;

        Search(Class<?> targetClass) {
            this.targetClass = targetClass;
            this.interfaceMethods = ClassUtils.getAllInterfacesForClassAsSet(targetClass).stream()
                    .flatMap(type -> Stream.of(type.getMethods()))
                    .filter(Search::isOverridable)
                    .toList();
            this.annotatedInterfaceMethods =
                    interfaceMethods.stream().filter(it -> find(it).isPresent()).toList();
            this.ofType = find(targetClass);
        }

        Set<Method> candidates() {
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

        Optional<AnnotatedMethod> annotated(Method method) {
            Optional<WithPermits> annotation = find(method).or(() -> findOnInterfaces(method));
            if (annotation.isEmpty() && isOverridable(method) && !isObjectMethod(method)) {
                annotation = findOnType(method);
            }
            return annotation.map(found -> new AnnotatedMethod(method, targetClass, found));
        }

        /** Covers a case that the search from the method does not: an interface whose method a superclass implements. */
        private Optional<WithPermits> findOnInterfaces(Method method) {
            return annotatedInterfaceMethods.stream()
                    .filter(it ->
                            AopUtils.getMostSpecificMethod(it, targetClass).equals(method))
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

        private static boolean isOverridable(Method method) {
            return !Modifier.isPrivate(method.getModifiers()) && !Modifier.isStatic(method.getModifiers());
        }
    }
}
