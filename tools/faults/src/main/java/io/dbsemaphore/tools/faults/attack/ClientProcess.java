package io.dbsemaphore.tools.faults.attack;

import io.dbsemaphore.tools.faults.client.ClientMain;
import io.dbsemaphore.tools.faults.client.ClientSettings;
import java.io.File;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A running client, with what it prints in a file. */
final class ClientProcess {

    private final ClientSettings settings;
    private final Process process;

    private ClientProcess(ClientSettings settings, Process process) {
        this.settings = settings;
        this.process = process;
    }

    /** @param build comes first on its class path; empty for nothing */
    static ClientProcess start(ClientSettings settings, String build, Map<String, String> environment, Path logs)
            throws IOException {
        ProcessBuilder builder = new ProcessBuilder(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx192m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                ClientMain.class.getName()));
        // Surefire starts its JVM with a jar that only refers to the class path
        String own = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        builder.environment().put("CLASSPATH", build.isEmpty() ? own : build + File.pathSeparator + own);
        builder.environment().putAll(environment);
        File output = logs.resolve(settings.client() + ".log").toFile();
        Process process =
                builder.redirectErrorStream(true).redirectOutput(output).start();
        ObjectOutputStream input = new ObjectOutputStream(process.getOutputStream());
        input.writeObject(settings);
        input.flush();
        return new ClientProcess(settings, process);
    }

    String name() {
        return settings.client();
    }

    void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    /** Freezes it, or lets it run again. */
    void freeze(boolean frozen) throws IOException, InterruptedException {
        new ProcessBuilder("sh", "-c", "kill -%s %d".formatted(frozen ? "STOP" : "CONT", process.pid()))
                .start()
                .waitFor();
    }

    /** Asks it to stop, by the end of its input. */
    void askToStop() {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            // It has ended already
        }
    }

    /** Returns whether it has ended in time. */
    boolean awaitEnd(long seconds) throws InterruptedException {
        return process.waitFor(seconds, TimeUnit.SECONDS);
    }
}
