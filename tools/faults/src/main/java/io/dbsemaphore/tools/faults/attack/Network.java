package io.dbsemaphore.tools.faults.attack;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The network between one client and the server: a proxy that cuts connections around commits, delays what it passes on, or
 * passes on nothing.
 */
final class Network implements AutoCloseable {

    private final Supplier<InetSocketAddress> server;
    private final Consumer<String> cuts;
    private final Random random;
    private final ServerSocket listener;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private volatile double cutsPerCommit;
    private volatile long delayMillis;
    private boolean silent;

    /** @param cuts receives a description of each cut */
    Network(Supplier<InetSocketAddress> server, Consumer<String> cuts, Random random) throws IOException {
        this.server = server;
        this.cuts = cuts;
        this.random = random;
        listener = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
        start(this::accept, "network-" + port());
    }

    int port() {
        return listener.getLocalPort();
    }

    /** From now on this share of commits loses its connection. */
    void cut(double share) {
        cutsPerCommit = share;
    }

    /** From now on everything arrives that much later. */
    void delay(long millis) {
        delayMillis = millis;
    }

    /** From now on nothing arrives, although the connections stay open; or everything does again. */
    synchronized void silence(boolean on) {
        silent = on;
        notifyAll();
    }

    /** Returns when the bytes may be passed on. */
    void pass() throws InterruptedException {
        if (delayMillis > 0) {
            Thread.sleep(delayMillis);
        }
        synchronized (this) {
            while (silent) {
                wait();
            }
        }
    }

    /** Decides whether to cut the connection of a commit that comes now. */
    boolean cutsNow() {
        synchronized (random) {
            return cutsPerCommit > 0 && random.nextDouble() < cutsPerCommit;
        }
    }

    /** A number of bytes, from 0 to this one. */
    int bytes(int most) {
        synchronized (random) {
            return random.nextInt(most + 1);
        }
    }

    boolean coin() {
        synchronized (random) {
            return random.nextBoolean();
        }
    }

    void tellOfCut(String which) {
        cuts.accept(which);
    }

    void forget(Link link) {
        links.remove(link);
    }

    @Override
    public void close() throws IOException {
        listener.close();
        silence(false);
        links.forEach(Link::cut);
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                connect(listener.accept());
            } catch (IOException e) {
                if (!listener.isClosed()) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    private void connect(Socket client) throws IOException {
        Socket toServer = new Socket();
        try {
            toServer.connect(server.get(), 1000);
        } catch (IOException away) {
            client.close();
            return;
        }
        Link link = new Link(this, client, toServer);
        links.add(link);
        start(link::passRequests, "requests-" + client.getPort());
        start(link::passAnswers, "answers-" + client.getPort());
    }

    private static void start(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }
}
