package io.dbsemaphore.samples.backup;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Programs of this machine that a test needs. */
public final class Executables {

    private Executables() {}

    /** The first on the search path that has one of these names, or {@code null}. */
    public static @Nullable Path find(String... names) {
        return Stream.of(System.getenv("PATH").split(":", -1))
                .flatMap(directory -> Stream.of(names).map(name -> Path.of(directory, name)))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
    }
}
