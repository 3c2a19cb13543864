package io.dbsemaphore.boot.autoconfigure;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** The class path of the tests without some of its jars: what is not there can really not be loaded. */
final class ClassPath {

    private final List<URL> entries;

    private ClassPath(List<URL> entries) {
        this.entries = entries;
    }

    /** Without the jars whose names begin with one of these, or have one of them in it behind a dash. */
    static ClassPath without(String... artifacts) {
        String all = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        return new ClassPath(Arrays.stream(all.split(File.pathSeparator))
                .map(Path::of)
                .filter(entry -> Arrays.stream(artifacts)
                        .noneMatch(artifact -> ("-" + entry.getFileName()).contains("-" + artifact)))
                .map(ClassPath::url)
                .toList());
    }

    /** With the jars of a directory below {@code target} whose names begin with one of these. */
    ClassPath with(String directory, String... artifacts) {
        try (Stream<Path> jars = Files.list(Path.of("target", directory))) {
            List<URL> added = jars.filter(jar -> Arrays.stream(artifacts)
                            .anyMatch(artifact -> jar.getFileName().toString().startsWith(artifact)))
                    .map(ClassPath::url)
                    .toList();
            return new ClassPath(Stream.concat(entries.stream(), added.stream()).toList());
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Calls {@code static void run(String[])} of a class that is loaded anew from this class path. */
    void call(Class<?> type, String... arguments) {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        try (URLClassLoader loader =
                new URLClassLoader(entries.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Thread.currentThread().setContextClassLoader(loader);
            loader.loadClass(type.getName()).getMethod("run", String[].class).invoke(null, (Object) arguments);
        } catch (InvocationTargetException failure) {
            throw new AssertionError(failure.getTargetException());
        } catch (ReflectiveOperationException failure) {
            throw new LinkageError("Cannot call " + type, failure);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    private static URL url(Path entry) {
        try {
            return entry.toUri().toURL();
        } catch (MalformedURLException invalid) {
            throw new IllegalArgumentException(invalid);
        }
    }
}
