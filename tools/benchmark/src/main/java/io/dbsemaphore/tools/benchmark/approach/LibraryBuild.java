package io.dbsemaphore.tools.benchmark.approach;

import io.dbsemaphore.engine.SemaphoreEngine;
import java.security.CodeSource;

/** The build of the library that is first on the class path: the current one, or the earlier one it is compared with. */
public final class LibraryBuild {

    private LibraryBuild() {}

    /** Where this JVM has loaded the library from. */
    public static String location() {
        CodeSource source = SemaphoreEngine.class.getProtectionDomain().getCodeSource();
        return source.getLocation().getPath();
    }
}
