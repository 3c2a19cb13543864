package io.dbsemaphore.tools.benchmark.delay;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A process with a proxy that delays what goes to a server and back. Its CPU time is not that of the measuring JVMs. */
public final class DelayProxyJvm implements AutoCloseable {

    private final Process process;
    private final BufferedReader answers;
    private final int port;

    /** @param delay of a round trip */
    public DelayProxyJvm(String classPath, InetSocketAddress server, Duration delay) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                DelayProxyMain.class.getName(),
                server.getHostString(),
                String.valueOf(server.getPort()),
                delay.toString());
        builder.environment().put("CLASSPATH", classPath);
        process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        answers = process.inputReader(StandardCharsets.UTF_8);
        port = Integer.parseInt(answer());
    }

    /** Its port on this machine. */
    public int port() {
        return port;
    }

    /** The round trips up to now, of all connections. */
    public long trips() throws IOException {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
        return Long.parseLong(answer());
    }

    private String answer() throws IOException {
        String line = answers.readLine();
        if (line == null) {
            throw new IOException("The proxy of --delay= has ended; standard error says why");
        }
        return line;
    }

    @Override
    public void close() throws IOException {
        try {
            process.getOutputStream().close();
            process.waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        } finally {
            process.destroyForcibly();
        }
    }
}
