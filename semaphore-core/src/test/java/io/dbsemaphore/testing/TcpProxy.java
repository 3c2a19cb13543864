package io.dbsemaphore.testing;

import io.dbsemaphore.testing.measurement.Measurement;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A network between a connection pool and its database that loses what it is told to lose. It is made by
 * {@link TestDatabase.Schema#newProxy()} and used by {@link TestDatabase.Schema#newPool(int, TcpProxy)}.
 *
 * <p>A fault is armed for one commit, the next one on any of its connections or the next one of a transaction with a
 * given statement. It strikes once; until it is armed again everything is let through.
 */
public final class TcpProxy implements AutoCloseable {

    /** What happens to a commit. */
    enum Fault {
        DROP_COMMIT,
        DROP_ANSWER,
        SILENCE_ANSWER
    }

    /** A fault that waits for its commit. */
    static final class ArmedFault {

        final Fault fault;
        final CountDownLatch done = new CountDownLatch(1);
        private final String having;

        private ArmedFault(Fault fault, String having) {
            this.fault = fault;
            this.having = having.toLowerCase(Locale.ROOT);
        }

        private boolean strikes(List<String> transaction) {
            return having.isEmpty()
                    || transaction.stream()
                            .anyMatch(sql -> StatementGate.unqualified(sql)
                                    .toLowerCase(Locale.ROOT)
                                    .contains(having));
        }
    }

    private final InetSocketAddress server;
    private final Function<Boolean, WireProtocol> protocol;
    private final ServerSocket listener;
    private final Set<ProxiedConnection> connections = new HashSet<>();
    private final List<String> statements = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger commits = new AtomicInteger();
    private final AtomicInteger roundTrips = new AtomicInteger();
    private final AtomicReference<@Nullable ArmedFault> armed = new AtomicReference<>();
    private volatile @Nullable ArmedFault lastArmed;
    private boolean refusing;
    private volatile boolean silent;

    /** @param protocol makes the reader of one direction: true for what clients say */
    TcpProxy(InetSocketAddress server, Function<Boolean, WireProtocol> protocol) {
        this.server = server;
        this.protocol = protocol;
        try {
            this.listener = new ServerSocket(0, 200, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread acceptor = new Thread(this::accept, "tcp-proxy-" + port());
        acceptor.setDaemon(true);
        acceptor.start();
    }

    /** Where it listens on 127.0.0.1. */
    public int port() {
        return listener.getLocalPort();
    }

    /** The next commit does not reach the server; both sides of its connection are cut, so that it is rolled back. */
    public void dropNextCommit() {
        dropNextCommit("");
    }

    /**
     * Like {@link #dropNextCommit()}, for the next commit of a transaction that has executed a certain statement.
     *
     * @param having a part of that statement, in any case
     */
    public void dropNextCommit(String having) {
        arm(Fault.DROP_COMMIT, having);
    }

    /** The next commit is done, but its answer is lost: the connection is cut once the server has answered. */
    public void dropNextCommitAnswer() {
        dropNextCommitAnswer("");
    }

    /** Like {@link #dropNextCommitAnswer()}, for the next commit of a transaction that has executed a statement. */
    public void dropNextCommitAnswer(String having) {
        arm(Fault.DROP_ANSWER, having);
    }

    /** The next commit is done, but its answer is lost, and the connection stays open and silent. */
    public void silenceNextCommitAnswer() {
        silenceNextCommitAnswer("");
    }

    /** Like {@link #silenceNextCommitAnswer()}, for the next commit of a transaction that has executed a statement. */
    public void silenceNextCommitAnswer(String having) {
        arm(Fault.SILENCE_ANSWER, having);
    }

    private void arm(Fault fault, String having) {
        ArmedFault next = new ArmedFault(fault, having);
        lastArmed = next;
        armed.set(next);
    }

    /** Takes back a fault that has not struck yet. */
    public void disarm() {
        armed.set(null);
    }

    /**
     * Waits until the fault that was armed last has struck: the connection is cut (or silent) and, where only the
     * answer is lost, the server has answered.
     */
    public void awaitDropped(Duration timeout) {
        ArmedFault fault = lastArmed;
        if (fault == null) {
            throw new IllegalStateException("No fault was armed");
        }
        try {
            if (!fault.done.await(timeout.toNanos(), TimeUnit.NANOSECONDS)) {
                throw Measurement.late("%s has not struck within %s; statements were %s"
                        .formatted(fault.fault, timeout, statements()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("Interrupted while waiting for " + fault.fault, e);
        }
    }

    /** From now on, or no longer, nothing is passed on, although the connections stay open. */
    public void silence(boolean silent) {
        this.silent = silent;
    }

    boolean isSilent() {
        return silent;
    }

    /** Cuts all connections that are open. */
    public synchronized void cutAll() {
        List.copyOf(connections).forEach(ProxiedConnection::cut);
    }

    /** From now on, or no longer, closes every new connection at once: the database is away. */
    public synchronized void refuse(boolean refuse) {
        this.refusing = refuse;
    }

    /** How many connections are open. */
    public synchronized int openConnections() {
        return connections.size();
    }

    /** How many commits clients have sent, those that were dropped included. */
    public int commits() {
        return commits.get();
    }

    /** How often clients have waited for an answer of the server. */
    public int roundTrips() {
        return roundTrips.get();
    }

    /** What clients have executed, without the schemas of tables, in the order in which it came by, whatever layer of the client it is from. */
    public List<String> statements() {
        synchronized (statements) {
            return List.copyOf(statements);
        }
    }

    /** Forgets the statements, and begins to count again. */
    public void clear() {
        statements.clear();
        commits.set(0);
        roundTrips.set(0);
    }

    @Override
    public void close() {
        refuse(true);
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            cutAll();
        }
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                connect(listener.accept());
            } catch (IOException e) {
                // The listener was closed, or one client has gone again: the loop decides.
            }
        }
    }

    private void connect(Socket client) throws IOException {
        if (isRefusing()) { // before the server hears of it, which counts connections that come to nothing
            client.close();
            return;
        }
        Socket upstream = new Socket();
        try {
            upstream.connect(server, 10_000);
            client.setTcpNoDelay(true);
            upstream.setTcpNoDelay(true);
            ProxiedConnection connection = new ProxiedConnection(this, client, upstream, protocol);
            if (register(connection)) {
                connection.start();
                return;
            }
        } catch (IOException e) {
            upstream.close();
            client.close();
            throw e;
        }
        upstream.close();
        client.close();
    }

    private synchronized boolean isRefusing() {
        return refusing;
    }

    private synchronized boolean register(ProxiedConnection connection) {
        return !refusing && connections.add(connection);
    }

    synchronized void closed(ProxiedConnection connection) {
        connections.remove(connection);
    }

    void awaitsAnswer() {
        roundTrips.incrementAndGet();
    }

    void executes(String sql) {
        String text = StatementGate.unqualified(sql);
        statements.add(text.length() > 5_000 ? text.substring(0, 5_000) + "…" : text);
    }

    /** Counts a commit and says what is to happen to it. */
    @Nullable ArmedFault commits(List<String> transaction) {
        commits.incrementAndGet();
        ArmedFault fault = armed.get();
        return fault != null && fault.strikes(transaction) && armed.compareAndSet(fault, null) ? fault : null;
    }
}
