package io.dbsemaphore.aop;

import io.dbsemaphore.admin.SemaphoreName;
import io.dbsemaphore.annotation.WithPermits;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * A method and the annotation that applies to it. Builds the exceptions for invalid annotations, so that each names the
 * method, the attribute and its value.
 *
 * @param method the most specific method of the class
 * @param targetClass the class of the bean
 * @param annotation the merged annotation of the method or of a type
 */
record AnnotatedMethod(Method method, Class<?> targetClass, WithPermits annotation) {

    /** The only obstacle that also fails an annotation on the type. Such an annotation ignores methods with other obstacles. */
    private static final String FINAL = "final";

    /**
     * Finds the methods of a class to which an annotation applies: their own, that of a method that they override, or else that of a type.
     *
     * @throws IllegalStateException if a proxy cannot intercept one of them
     */
    static List<AnnotatedMethod> allOf(Class<?> targetClass) {
        if (!AnnotationUtils.isCandidateClass(targetClass, WithPermits.class)) {
            return List.of();
        }
        List<Method> declared = declaredMethods(targetClass);
        Map<Method, WithPermits> annotations = new LinkedHashMap<>();
        declared.forEach(method ->
                find(method).ifPresent(it -> annotations.putIfAbsent(mostSpecific(method, targetClass), it)));
        annotations.forEach((method, it) -> new AnnotatedMethod(method, targetClass, it).requireNoCallback());
        find(targetClass)
                .ifPresent(ofClass -> declared.stream()
                        .map(method -> mostSpecific(method, targetClass))
                        .filter(method -> List.of("", FINAL).contains(obstacle(method, targetClass)))
                        .forEach(method -> ofType(method, targetClass, ofClass)
                                .ifPresent(it -> annotations.putIfAbsent(method, it))));
        List<AnnotatedMethod> found = annotations.entrySet().stream()
                .map(each -> new AnnotatedMethod(each.getKey(), targetClass, each.getValue()))
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
        return Arrays.stream(method.getParameterTypes())
                .map(Class::getSimpleName)
                .collect(Collectors.joining(", ", shownClass().getName() + "." + method.getName() + "(", ")"));
    }

    /** The simple name of the class, and the method. Kotlin's names may be too long for a label, or end with a space. */
    String label() {
        String simpleName = shownClass().getSimpleName(); // empty for an anonymous class
        String label =
                (simpleName.isEmpty() ? ClassUtils.getShortName(shownClass()) : simpleName) + "." + method.getName();
        return label.substring(0, Math.min(label.length(), SemaphoreName.MAX_LENGTH))
                .strip();
    }

    private Class<?> shownClass() {
        return Proxy.isProxyClass(targetClass) ? method.getDeclaringClass() : targetClass;
    }

    private void requireInterceptable() {
        String obstacle = obstacle(method, targetClass);
        if (!obstacle.isEmpty()) {
            throw refuse("it is " + obstacle + ", so no proxy can guard it and it would run without permits. Make it"
                    + " an ordinary method (in Kotlin: open), or use SemaphoreOperations.execute in it");
        }
    }

    /** Refuses a callback with an annotation of its own. An annotation of its type applies to calls through the proxy. */
    private void requireNoCallback() {
        Stream.of("PostConstruct", "PreDestroy")
                .filter(each -> MergedAnnotations.from(method).isPresent("jakarta.annotation." + each))
                .findFirst()
                .ifPresent(callback -> {
                    throw refuse("it has @" + callback
                            + ", and Spring calls it on the object, not through its proxy, so that it"
                            + " would run without permits. Use SemaphoreOperations.execute in it, or call an annotated method"
                            + " of another bean");
                });
    }

    /** The reason why no proxy can intercept a method; empty if one can. */
    private static String obstacle(Method method, Class<?> targetClass) {
        if (ReflectionUtils.findMethod(Object.class, method.getName(), method.getParameterTypes()) != null) {
            return "a method of java.lang.Object";
        }
        if ((method.getModifiers() & (Modifier.PUBLIC | Modifier.PROTECTED | Modifier.PRIVATE)) == 0
                && !method.getDeclaringClass().getPackageName().equals(targetClass.getPackageName())) {
            return "package-private in another package";
        }
        return Modifier.toString(method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC | Modifier.FINAL));
    }

    /**
     * The methods of the class, then those of its interfaces, which may have an annotation for a method that a superclass implements. For a
     * proxy, only those of its interfaces.
     */
    private static List<Method> declaredMethods(Class<?> targetClass) {
        Stream<Class<?>> ofClass = Proxy.isProxyClass(targetClass) ? Stream.empty() : Stream.of(targetClass);
        return Stream.concat(ofClass, ClassUtils.getAllInterfacesForClassAsSet(targetClass).stream())
                .flatMap(type -> Stream.of(ReflectionUtils.getAllDeclaredMethods(type)))
                .filter(method -> !method.isSynthetic() || method.isBridge())
                .toList();
    }

    private static Method mostSpecific(Method method, Class<?> targetClass) {
        return Proxy.isProxyClass(targetClass) ? method : AopUtils.getMostSpecificMethod(method, targetClass);
    }

    /** The annotation of the type for a method. A proxy also has interfaces without one, such as Spring's {@code Advised}. */
    private static Optional<WithPermits> ofType(Method method, Class<?> targetClass, WithPermits ofClass) {
        return Proxy.isProxyClass(targetClass)
                ? Stream.of(targetClass.getInterfaces())
                        .filter(type -> method.getDeclaringClass().isAssignableFrom(type))
                        .flatMap(type -> find(type).stream())
                        .findFirst()
                : Optional.of(ofClass);
    }

    /** @throws IllegalStateException if several annotations apply and none replaces the others */
    private static Optional<WithPermits> find(AnnotatedElement element) {
        try {
            WithPermits nearest = AnnotatedElementUtils.findMergedAnnotation(element, WithPermits.class);
            if (nearest != null && !(element instanceof Class<?> type && Proxy.isProxyClass(type))) {
                requireSingle(element, nearest);
            }
            return Optional.ofNullable(nearest);
        } catch (AnnotationConfigurationException contradiction) {
            throw new IllegalStateException(
                    "@WithPermits on " + element + ": " + contradiction.getMessage(), contradiction);
        }
    }

    private static void requireSingle(AnnotatedElement element, WithPermits nearest) {
        List<MergedAnnotation<WithPermits>> all = MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).stream(
                        WithPermits.class)
                .toList();
        Class<?> replacing = declaringType(all.get(0));
        for (MergedAnnotation<WithPermits> each : all) {
            Class<?> type = declaringType(each);
            if ((type == replacing || !type.isAssignableFrom(replacing))
                    && !each.synthesize().equals(nearest)) {
                throw new UnguardableMethodException(
                        "@WithPermits on " + element
                                + ": another @WithPermits applies to it, and only one would be enforced."
                                + " Put a single @WithPermits on it, with the names of all semaphores",
                        null);
            }
        }
    }

    private static Class<?> declaringType(MergedAnnotation<?> annotation) {
        Object source = annotation.getSource();
        return source instanceof Member member ? member.getDeclaringClass() : (Class<?>) Objects.requireNonNull(source);
    }
}
