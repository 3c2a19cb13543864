package io.dbsemaphore.testing;

import io.dbsemaphore.testing.TcpProxy.ArmedFault;
import io.dbsemaphore.testing.TcpProxy.Fault;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One connection through a {@link TcpProxy}: a thread for what the client says, and one for what the server says. */
final class ProxiedConnection {

    private static final int MAX_REMEMBERED = 200;

    private final TcpProxy proxy;
    private final Socket client;
    private final Socket server;
    private final WireProtocol fromClient;
    private final WireProtocol fromServer;
    private final List<String> transaction = new ArrayList<>();

    /** How many answers the server owes. */
    private int owed;

    /** How many answers the server owes until it has answered the commit that the fault struck. */
    private int owedUntilCommit;

    /** Set before the commit is forwarded, and from then on nothing reaches the client any more. */
    private volatile @Nullable ArmedFault struck;

    ProxiedConnection(TcpProxy proxy, Socket client, Socket server, Function<Boolean, WireProtocol> protocol) {
        this.proxy = proxy;
        this.client = client;
        this.server = server;
        this.fromClient = protocol.apply(true);
        this.fromServer = protocol.apply(false);
    }

    void start() {
        run("client", () -> pump(client, server, this::clientSays));
        run("server", () -> pump(server, client, this::serverSays));
    }

    void cut() {
        proxy.closed(this);
        for (Socket socket : List.of(client, server)) {
            try {
                socket.close();
            } catch (IOException e) {
                // It is gone then.
            }
        }
    }

    private void run(String side, Runnable pump) {
        Thread thread = new Thread(pump, "tcp-proxy-" + proxy.port() + "-" + side + "-" + client.getPort());
        thread.setDaemon(true);
        thread.start();
    }

    private void pump(Socket from, Socket to, MessageFilter filter) {
        WireProtocol protocol = from == client ? fromClient : fromServer;
        try {
            DataInputStream in = new DataInputStream(new BufferedInputStream(from.getInputStream(), 1 << 16));
            OutputStream out = new BufferedOutputStream(to.getOutputStream(), 1 << 16);
            byte[] message = protocol.read(in);
            while (message != null) {
                if (!proxy.isSilent() && filter.passes(message)) {
                    out.write(message);
                }
                if (in.available() == 0) {
                    out.flush();
                }
                message = protocol.read(in);
            }
        } catch (IOException e) {
            // One side is gone; so is the other, below.
        } finally {
            ArmedFault fault = struck;
            // A network that has fallen silent does not say either that the server has given up.
            if (from == client || fault == null || fault.fault != Fault.SILENCE_ANSWER) {
                cut();
            }
        }
    }

    private synchronized boolean clientSays(byte[] message) {
        ArmedFault fault = struck;
        if (fault != null) {
            // The rest of the commit still goes to the server; what comes after its answer does not.
            return fault.done.getCount() > 0;
        }
        boolean awaitsAnswer = fromClient.awaitsAnswer(message);
        if (awaitsAnswer) {
            if (owed == 0) {
                proxy.awaitsAnswer();
            }
            owed = fromClient.sendsAhead() ? owed + 1 : 0;
        }
        owedUntilCommit = fromClient.sendsAhead() && !awaitsAnswer ? owed + 1 : Math.max(1, owed);
        String sql = fromClient.executedSql(message);
        if (sql == null) {
            return true;
        }
        for (String part : sql.split("; ", -1)) {
            if (!executes(part)) {
                return false;
            }
        }
        return true;
    }

    private boolean executes(String sql) {
        proxy.executes(sql);
        if (is("rollback", sql)) {
            transaction.clear();
        } else if (is("commit", sql)) {
            ArmedFault next = proxy.commits(transaction);
            transaction.clear();
            return next == null || strike(next);
        } else if (transaction.size() < MAX_REMEMBERED) {
            transaction.add(sql);
        }
        return true;
    }

    private boolean strike(ArmedFault fault) {
        if (fault.fault == Fault.DROP_COMMIT) {
            cut();
            fault.done.countDown();
            return false;
        }
        struck = fault;
        return true;
    }

    private synchronized boolean serverSays(byte[] message) {
        boolean endsAnswer = fromServer.endsAnswer(message);
        if (endsAnswer && owed > 0) {
            owed--;
        }
        ArmedFault fault = struck;
        if (fault == null) {
            return true;
        }
        if (endsAnswer && --owedUntilCommit == 0) {
            if (fault.fault == Fault.DROP_ANSWER) {
                cut();
            }
            fault.done.countDown();
        }
        return false;
    }

    private static boolean is(String statement, String sql) {
        return sql.strip().replaceFirst(";$", "").toLowerCase(Locale.ROOT).equals(statement);
    }

    /** Looks at a message and says whether it goes on to the other side. */
    @FunctionalInterface
    private interface MessageFilter {

        boolean passes(byte[] message);
    }
}
