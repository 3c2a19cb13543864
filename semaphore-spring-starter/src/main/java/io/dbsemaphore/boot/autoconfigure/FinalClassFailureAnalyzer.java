package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.annotation.WithPermits;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopConfigException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** Explains that a final class with {@code @WithPermits} methods cannot be proxied. Does not handle other advice. */
final class FinalClassFailureAnalyzer extends AbstractFailureAnalyzer<AopConfigException> {

    private static final Pattern CLASS = Pattern.compile("class ([\\w.$]+)");

    private static final String ACTION = """
            Do one of these:
                - Remove final (in Kotlin: make the class open, or use the compiler plugin kotlin-spring)
                - Let it implement an interface, inject that, and set spring.aop.proxy-target-class=false
                - Use SemaphoreOperations.execute in its methods instead of the annotation""";

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, AopConfigException cause) {
        Matcher named = CLASS.matcher(String.valueOf(cause.getMessage()));
        while (named.find()) {
            Class<?> type = load(named.group(1));
            if (type != null && Modifier.isFinal(type.getModifiers()) && hasPermits(type)) {
                return new FailureAnalysis(
                        "The class %s has @WithPermits methods but is final, so no proxy can guard them."
                                .formatted(type.getName()),
                        ACTION,
                        cause);
            }
        }
        return null;
    }

    private static boolean hasPermits(Class<?> type) {
        return AnnotatedElementUtils.hasAnnotation(type, WithPermits.class)
                || Arrays.stream(ReflectionUtils.getAllDeclaredMethods(type))
                        .anyMatch(method -> AnnotatedElementUtils.hasAnnotation(method, WithPermits.class));
    }

    private static @Nullable Class<?> load(String name) {
        return ClassUtils.isPresent(name, null) ? ClassUtils.resolveClassName(name, null) : null;
    }
}
