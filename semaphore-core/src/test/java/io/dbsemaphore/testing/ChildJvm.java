package io.dbsemaphore.testing;

import io.dbsemaphore.testing.measurement.Measurement;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;

/**
 * Another JVM with the class path of this one, which can be killed or frozen. It is spoken to in lines: what it prints
 * is awaited, what is sent to it comes on its standard input, which ends when this JVM does.
 */
public final class ChildJvm implements AutoCloseable {

    private static final AtomicInteger STARTED = new AtomicInteger();
    private static final Duration END = Duration.ofSeconds(20);

    private final String name;
    private final Process process;
    private final BufferedWriter input;
    private final List<String> output = new ArrayList<>();
    private final List<String> unread = new ArrayList<>();
    private final Thread killer;
    private boolean outputEnded;

    private ChildJvm(String name, Process process) {
        this.name = name;
        this.process = process;
        this.input = process.outputWriter(StandardCharsets.UTF_8);
        this.killer = new Thread(() -> process.toHandle().destroyForcibly(), "kill-" + name);
    }

    /**
     * Starts a JVM that is soon as fast as it will be.
     *
     * @param main the class with the main method
     * @param systemProperties what it gets as {@code -D}, such as {@link TestDatabase.Schema#handOver()}
     * @param arguments of the main method
     */
    public static ChildJvm start(Class<?> main, Map<String, String> systemProperties, String... arguments) {
        return start(Map.of(), List.of("-XX:TieredStopAtLevel=1"), main, systemProperties, arguments);
    }

    /** Starts a JVM that finds these classes before those of this one. */
    public static ChildJvm startWithClasses(
            String classes, Class<?> main, Map<String, String> systemProperties, String... arguments) {
        return start(
                Map.of(),
                List.of("-XX:TieredStopAtLevel=1", "-cp", classes + File.pathSeparator + classPath()),
                main,
                systemProperties,
                arguments);
    }

    /** Starts a JVM that is faster after some seconds, because it also compiles with the optimizing compiler. */
    public static ChildJvm startOptimizing(Class<?> main, Map<String, String> systemProperties, String... arguments) {
        return start(Map.of(), List.of(), main, systemProperties, arguments);
    }

    /** Starts a JVM with these environment variables besides those of this one. */
    public static ChildJvm startWithEnvironment(
            Map<String, String> environment, Class<?> main, Map<String, String> systemProperties, String... arguments) {
        return start(environment, List.of("-XX:TieredStopAtLevel=1"), main, systemProperties, arguments);
    }

    private static ChildJvm start(
            Map<String, String> environment,
            List<String> options,
            Class<?> main,
            Map<String, String> systemProperties,
            String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx256m", "-Dfile.encoding=UTF-8"));
        command.addAll(List.of("-cp", classPath()));
        command.addAll(options); // the last class path counts
        systemProperties.forEach((key, value) -> command.add("-D" + key + "=" + value));
        command.add(main.getName());
        command.addAll(List.of(arguments));
        try {
            ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
            builder.environment().putAll(environment);
            Process process = builder.start();
            ChildJvm child = new ChildJvm("child " + STARTED.incrementAndGet(), process);
            Runtime.getRuntime().addShutdownHook(child.killer);
            Thread reader = new Thread(child::read, "read-" + child.name);
            reader.setDaemon(true);
            reader.start();
            return child;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Surefire starts its JVM with a jar that only refers to the class path; the whole of it is in a property. */
    private static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    public long pid() {
        return process.pid();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /**
     * Waits for a line.
     *
     * @return the first line with this prefix that was not returned before; lines without it can be awaited later
     * @throws AssertionError when it does not come in time, or cannot come any more; it has all output of the child
     */
    public String awaitLine(String prefix, Duration timeout) {
        long end = System.nanoTime() + timeout.toNanos();
        synchronized (output) {
            while (true) {
                for (int line = 0; line < unread.size(); line++) {
                    if (unread.get(line).startsWith(prefix)) {
                        return unread.remove(line);
                    }
                }
                long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
                if (outputEnded) {
                    throw failure("has not said \"" + prefix + "\"");
                }
                if (left <= 0) {
                    throw Measurement.late(message("has not said \"" + prefix + "\" within " + timeout));
                }
                waitForOutput(left);
            }
        }
    }

    private void waitForOutput(long millis) {
        try {
            output.wait(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure("was not waited for: interrupted");
        }
    }

    /** Sends a line. */
    public synchronized void send(String line) {
        try {
            input.write(line);
            input.newLine();
            input.flush();
        } catch (IOException e) {
            throw failure("does not take \"" + line + "\": " + e);
        }
    }

    /** Everything that it has printed. */
    public List<String> output() {
        synchronized (output) {
            return List.copyOf(output);
        }
    }

    /** What it has printed after so many lines. */
    public List<String> output(int lines) {
        synchronized (output) {
            return List.copyOf(output.subList(lines, output.size()));
        }
    }

    /** Kills it at once: nothing of it runs any more when this returns. */
    public void kill9() {
        // By its handle: the process itself would close its output, too, before it is read.
        process.toHandle().destroyForcibly();
        awaitExit(END);
    }

    /** Asks it to end, as an operating system does that is shut down: its shutdown hooks run. */
    public void terminate() {
        process.toHandle().destroy();
    }

    /** Freezes it. None of its threads runs any more when this returns. */
    public void stop() {
        signal("STOP");
        Path tasks = Path.of("/proc/" + pid() + "/task");
        if (Files.isDirectory(tasks)) {
            Awaitility.await(name + " to be frozen")
                    .pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(1))
                    .atMost(END)
                    .until(() -> isFrozen(tasks));
        }
    }

    /** Lets it run again. */
    public void cont() {
        signal("CONT");
    }

    /**
     * Waits until it has ended.
     *
     * @return its exit code
     */
    public int awaitExit(Duration timeout) {
        try {
            if (!process.waitFor(timeout.toNanos(), TimeUnit.NANOSECONDS)) {
                throw failure("has not ended within " + timeout);
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure("was not waited for: interrupted");
        }
    }

    /** Kills it if it still runs. */
    @Override
    public void close() {
        kill9();
        try {
            Runtime.getRuntime().removeShutdownHook(killer);
        } catch (IllegalStateException e) {
            // This JVM is ending.
        }
    }

    private void signal(String signal) {
        try {
            Process kill = new ProcessBuilder("sh", "-c", "kill -" + signal + " " + pid()).start();
            if (!kill.waitFor(END.toSeconds(), TimeUnit.SECONDS) || kill.exitValue() != 0) {
                throw failure("does not get SIG" + signal);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure("was not signalled: interrupted");
        }
    }

    private static boolean isFrozen(Path tasks) throws IOException {
        try (var each = Files.list(tasks)) {
            return each.allMatch(task -> {
                try {
                    String stat = Files.readString(task.resolve("stat"));
                    // The state follows the name of the thread, which is in parentheses and may have any character.
                    return stat.charAt(stat.lastIndexOf(')') + 2) == 'T';
                } catch (IOException e) {
                    return false;
                }
            });
        }
    }

    private void read() {
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                synchronized (output) {
                    output.add(line);
                    unread.add(line);
                    output.notifyAll();
                }
            }
        } catch (IOException e) {
            // It was killed; that the output has ended is said below.
        } finally {
            synchronized (output) {
                outputEnded = true;
                output.notifyAll();
            }
        }
    }

    private AssertionError failure(String what) {
        return new AssertionError(message(what));
    }

    private String message(String what) {
        String said = output().stream().map(line -> "[" + name + "] " + line).collect(Collectors.joining("\n"));
        return "%s (pid %d, %s) %s. It said:%n%s"
                .formatted(name, pid(), process.isAlive() ? "running" : "exit " + process.exitValue(), what, said);
    }
}
