package io.dbsemaphore.samples.benchmark.throughput;

import io.dbsemaphore.samples.benchmark.contestant.Approach;
import io.dbsemaphore.samples.benchmark.contestant.Surroundings;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The second JVM as the first one sees it: a process that is spoken to by its standard input and output. */
final class SecondJvm implements AutoCloseable {

    private final Process process;
    private final ObjectOutputStream orders;
    private final ObjectInputStream answers;

    SecondJvm(Surroundings surroundings, Workload workload, Collection<Approach> approaches) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), SecondJvmMain.class.getName());
        // Surefire starts its JVM with a jar that only refers to the class path
        builder.environment()
                .put(
                        "CLASSPATH",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
        process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        orders = new ObjectOutputStream(process.getOutputStream());
        send(new Start(surroundings, workload, new ArrayList<>(approaches)));
        answers = new ObjectInputStream(process.getInputStream());
        awaitReady();
    }

    void order(Approach approach, Duration length) throws IOException {
        send(new Order(approach, length));
    }

    void awaitReady() throws IOException {
        receive(Signal.class);
    }

    void go() throws IOException {
        send(Signal.GO);
    }

    Measurement result() throws IOException {
        return receive(Measurement.class);
    }

    /** It ends when its standard input does. */
    @Override
    public void close() throws Exception {
        try {
            orders.close();
            process.waitFor(30, TimeUnit.SECONDS);
        } finally {
            process.destroyForcibly();
        }
    }

    private void send(Serializable message) throws IOException {
        orders.writeObject(message);
        orders.flush();
    }

    private <T> T receive(Class<T> type) throws IOException {
        try {
            return type.cast(answers.readObject());
        } catch (ClassNotFoundException failure) {
            throw new IOException(failure);
        }
    }

    /** What the second JVM has to know before the first round. */
    record Start(Surroundings surroundings, Workload workload, List<Approach> approaches) implements Serializable {}

    /** One round. */
    record Order(Approach approach, Duration length) implements Serializable {}

    /** What needs no more words. */
    enum Signal {
        READY,
        GO
    }
}
