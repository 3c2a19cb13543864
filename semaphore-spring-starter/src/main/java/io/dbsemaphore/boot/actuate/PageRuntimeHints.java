package io.dbsemaphore.boot.actuate;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** Hints for native images: the files of the operator's page. */
final class PageRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources().registerPattern(PageDocument.class.getPackageName().replace('.', '/') + "/page/*");
    }
}
