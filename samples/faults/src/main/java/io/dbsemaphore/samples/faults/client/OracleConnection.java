package io.dbsemaphore.samples.faults.client;

import io.dbsemaphore.samples.faults.oracle.Event;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Tells the oracle of one thread's events, and waits until it has received each. Not thread-safe. */
final class OracleConnection implements AutoCloseable {

    private final Socket socket;

    OracleConnection(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
    }

    /** Returns when the oracle has the event. */
    void tell(Event event) {
        try {
            socket.getOutputStream().write((event.encode() + '\n').getBytes(StandardCharsets.UTF_8));
            if (socket.getInputStream().read() < 0) {
                throw new IOException("The oracle has ended");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
