package io.dbsemaphore.tools.benchmark.delay;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Passes TCP connections on to a server, with half of a delay each way, and counts the round trips: how often a client has
 * sent something after the server had answered, or at the beginning of a connection. Several statements that the client sends
 * before it reads an answer are one trip.
 */
final class DelayProxy implements AutoCloseable {

    private final ServerSocket listening;
    private final InetSocketAddress server;
    private final long oneWayNanos;
    private final Alarm alarm = Alarm.calibrate();
    private final LongAdder trips = new LongAdder();

    DelayProxy(InetSocketAddress server, Duration delay) throws IOException {
        this.server = server;
        oneWayNanos = delay.toNanos() / 2;
        listening = new ServerSocket(0, 512, InetAddress.getLoopbackAddress());
        Thread accepting = new Thread(this::accept, "accepts");
        accepting.setDaemon(true);
        accepting.start();
    }

    int port() {
        return listening.getLocalPort();
    }

    /** Those of all connections. */
    long trips() {
        return trips.sum();
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listening.accept();
                try {
                    connect(client);
                } catch (IOException unreachable) {
                    client.close();
                }
            }
        } catch (IOException closed) {
            // no further connections
        }
    }

    private void connect(Socket client) throws IOException {
        Socket upstream = new Socket();
        upstream.connect(server);
        client.setTcpNoDelay(true);
        upstream.setTcpNoDelay(true);
        AtomicBoolean answered = new AtomicBoolean(true);
        AtomicInteger open = new AtomicInteger(2);
        String name = "connection " + client.getPort();
        new Direction(client, upstream, oneWayNanos, alarm, open, () -> count(answered)).start(name + " to the server");
        new Direction(upstream, client, oneWayNanos, alarm, open, () -> answered.set(true))
                .start(name + " to the client");
    }

    private void count(AtomicBoolean answered) {
        if (answered.getAndSet(false)) {
            trips.increment();
        }
    }

    /** Accepts no further connections. */
    @Override
    public void close() throws IOException {
        listening.close();
    }
}
