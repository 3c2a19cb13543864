package io.dbsemaphore.testing;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Takes the native threads from another JVM for a while: whatever it starts meanwhile fails with
 * {@code OutOfMemoryError: unable to create native thread}. The limit is that of the processes of a user ({@code ulimit -u}),
 * so a JVM that root starts runs as a user of its own, which may read all the same.
 */
public final class ThreadLimit {

    private static final int USER = 61_234;
    private static final String MAY_READ = "+dac_override,+dac_read_search";

    private ThreadLimit() {}

    /** Whether the system can do that. */
    public static boolean isAvailable() {
        List<String> probe = new ArrayList<>(starter());
        probe.addAll(List.of("prlimit", "--nproc=64", "true"));
        return run(probe);
    }

    /** Starts a JVM from which threads can be taken. */
    public static ChildJvm start(Class<?> main, Map<String, String> systemProperties, String... arguments) {
        return ChildJvm.startBy(starter(), main, systemProperties, arguments);
    }

    /** From now on it can start no thread. */
    public static void takeThreads(ChildJvm child) {
        limit(child, "1:");
    }

    /** From now on it can start threads again. */
    public static void giveThreads(ChildJvm child) {
        limit(child, "4096:");
    }

    private static List<String> starter() {
        return "root".equals(System.getProperty("user.name"))
                ? List.of(
                        "setpriv",
                        "--reuid=" + USER,
                        "--clear-groups",
                        "--inh-caps=" + MAY_READ,
                        "--ambient-caps=" + MAY_READ)
                : List.of();
    }

    private static void limit(ChildJvm child, String softAndHard) {
        List<String> command = new ArrayList<>(starter()); // only the same user may do that everywhere
        command.addAll(List.of("prlimit", "--pid", Long.toString(child.pid()), "--nproc=" + softAndHard));
        if (!run(command)) {
            throw new IllegalStateException("The limit of " + child.pid() + " cannot be set to " + softAndHard);
        }
    }

    private static boolean run(List<String> command) {
        try {
            Process process = new ProcessBuilder(command).inheritIO().start();
            return process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException notInstalled) {
            return false;
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted during " + command, interrupt);
        }
    }
}
