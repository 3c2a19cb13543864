package io.dbsemaphore.aop;

import io.dbsemaphore.annotation.WithPermits;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.util.ClassUtils;

/**
 * Registers runtime hints, with which a native image reads the annotation and its aliases, finds the annotated methods of a bean and
 * calls its fallback methods. A method that cannot be guarded fails the build instead of the start.
 */
final class GuardedBeanAotProcessor implements BeanRegistrationAotProcessor {

    @Override
    public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
        Class<?> type = ClassUtils.getUserClass(bean.getBeanClass());
        if (AnnotatedMethod.allOf(type).isEmpty()) {
            return null;
        }
        return (generation, code) -> {
            RuntimeHints hints = generation.getRuntimeHints();
            hints.reflection()
                    .registerType(type, MemberCategory.INVOKE_DECLARED_METHODS, MemberCategory.INVOKE_PUBLIC_METHODS)
                    .registerType(WithPermits.class, MemberCategory.INVOKE_PUBLIC_METHODS);
            hints.proxies().registerJdkProxy(WithPermits.class);
        };
    }
}
