package io.dbsemaphore.aop;

import io.dbsemaphore.annotation.WithPermits;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** In a native image: the attributes of the annotation can be read, with what they are aliases of. */
final class WithPermitsRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.reflection().registerType(WithPermits.class, MemberCategory.INVOKE_PUBLIC_METHODS);
        hints.proxies().registerJdkProxy(WithPermits.class);
    }
}
