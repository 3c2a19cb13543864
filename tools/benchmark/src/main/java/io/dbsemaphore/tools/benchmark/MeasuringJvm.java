package io.dbsemaphore.tools.benchmark;

import io.dbsemaphore.tools.benchmark.approach.LibraryBuild;
import io.dbsemaphore.tools.benchmark.approach.Target;
import java.io.File;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A process that measures one build of the library, and the other approaches. It receives commands on its standard input,
 * answers on its standard output, and ends with its input.
 */
final class MeasuringJvm implements AutoCloseable {

    private final Process process;
    private final ObjectOutputStream commands;
    private final ObjectInputStream answers;
    private final String library;

    /** @param build the jar or the classes of another build of the library, or a class path; empty for that of this JVM */
    MeasuringJvm(String build) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), MeasuringJvmMain.class.getName());
        builder.environment().put("CLASSPATH", classPath(build));
        process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        commands = new ObjectOutputStream(process.getOutputStream());
        commands.flush();
        try {
            answers = new ObjectInputStream(process.getInputStream());
            library = answer(String.class);
            if (!build.isEmpty() && library.equals(LibraryBuild.location())) {
                throw new IOException("It loads " + library);
            }
        } catch (IOException failure) {
            throw new IOException(
                    "No JVM starts with the library of '%s'; --earlier= takes the jar of semaphore-core, or its target/classes"
                            .formatted(build),
                    failure);
        }
    }

    /** Another build comes first, since it may bring classes of the benchmark, too, and takes the place of this JVM's. */
    static String classPath(String build) {
        // Surefire starts its JVM with a jar that only refers to the class path
        String own = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        if (build.isEmpty()) {
            return own;
        }
        Path current = Path.of(LibraryBuild.location());
        return Stream.concat(
                        Stream.of(build),
                        Arrays.stream(own.split(File.pathSeparator))
                                .filter(entry ->
                                        !Path.of(entry).toAbsolutePath().equals(current)))
                .collect(Collectors.joining(File.pathSeparator));
    }

    /** Where it has loaded the library from. */
    String library() {
        return library;
    }

    /** Opens a scenario; the one before is closed. */
    void open(Open scenario) throws IOException {
        send(scenario);
        answer(Signal.class);
    }

    /** Returns when all threads of the round are ready. */
    void prepare(Case measured, Duration length) throws IOException {
        send(new Run(measured, length));
        answer(Signal.class);
    }

    /** Starts the round. */
    void start() throws IOException {
        send(Signal.GO);
    }

    /** Waits for the end of the round. */
    Measurement result() throws IOException {
        return answer(Measurement.class);
    }

    @Override
    public void close() throws IOException {
        try {
            commands.close();
            process.waitFor(30, TimeUnit.SECONDS);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        } finally {
            process.destroyForcibly();
        }
    }

    private void send(Serializable command) throws IOException {
        commands.writeObject(command);
        commands.flush();
    }

    private <T> T answer(Class<T> type) throws IOException {
        try {
            return type.cast(answers.readObject());
        } catch (ClassNotFoundException | IOException failure) {
            throw new IOException("A measuring JVM has ended; standard error says why", failure);
        }
    }

    /** A scenario, and which of its cases to measure. */
    record Open(Target target, Scenario scenario, List<Case> cases, int jvm) implements Serializable {}

    /** One round. */
    record Run(Case measured, Duration length) implements Serializable {}

    /** Messages without content. */
    enum Signal {
        READY,
        GO
    }
}
