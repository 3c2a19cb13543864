package io.dbsemaphore.tools.faults.oracle;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPOutputStream;

/**
 * Receives the events of clients, one line each, and answers each with one byte once the oracle has considered it. A client that
 * waits for the answer before it goes on has therefore done nothing between an event and its time.
 */
public final class OracleServer implements AutoCloseable {

    private final Oracle oracle;
    private final Writer log;
    private final ServerSocket listener;

    /**
     * Listens on a free port of the loopback interface.
     *
     * @param log the compressed file of all events, each with its time, so that a finding can be understood
     */
    public OracleServer(Oracle oracle, Path log) throws IOException {
        this.oracle = oracle;
        this.log = new BufferedWriter(new OutputStreamWriter(
                new GZIPOutputStream(Files.newOutputStream(log), 1 << 16), StandardCharsets.UTF_8));
        listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
        start(this::accept, "oracle");
    }

    /** Where it listens. */
    public int port() {
        return listener.getLocalPort();
    }

    /** Gives the oracle an event as of now. */
    public synchronized void tell(Event event) {
        Event received = event.at(System.nanoTime());
        oracle.accept(received);
        try {
            log.write(Oracle.time(received.nanos()) + '\t' + received.encode() + '\n');
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public synchronized void close() throws IOException {
        listener.close();
        log.close();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket socket = listener.accept();
                start(() -> receive(socket), "oracle-" + socket.getPort());
            } catch (IOException e) {
                if (!listener.isClosed()) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    private void receive(Socket socket) {
        try (socket;
                BufferedReader events =
                        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))) {
            socket.setTcpNoDelay(true);
            OutputStream answers = socket.getOutputStream();
            for (String line = events.readLine(); line != null; line = events.readLine()) {
                tell(Event.decode(line, 0));
                answers.write('.');
            }
        } catch (IOException e) {
            // The client was killed
        }
    }

    private static void start(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }
}
