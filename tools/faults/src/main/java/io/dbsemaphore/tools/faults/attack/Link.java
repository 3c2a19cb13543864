package io.dbsemaphore.tools.faults.attack;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** One connection through a {@link Network}. It can be cut at any byte of a commit, or of the answer to it. */
final class Link {

    private static final String COMMIT = "commit";

    private final Network network;
    private final Socket client;
    private final Socket server;
    private volatile boolean cutsAnswer;

    Link(Network network, Socket client, Socket server) throws SocketException {
        this.network = network;
        this.client = client;
        this.server = server;
        client.setTcpNoDelay(true);
        server.setTcpNoDelay(true);
    }

    void passRequests() {
        pass(client, server, true);
    }

    void passAnswers() {
        pass(server, client, false);
    }

    private void pass(Socket from, Socket to, boolean requests) {
        byte[] buffer = new byte[1 << 16];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                network.pass();
                if (requests ? cutsRequest(buffer, count) : cutsAnswer) {
                    out.write(buffer, 0, network.bytes(count));
                    out.flush();
                    network.tellOfCut(requests ? "cut-commit" : "cut-answer");
                    break;
                }
                out.write(buffer, 0, count);
            }
        } catch (IOException e) {
            // The other direction has cut it, or one of the two has ended
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            cut();
        }
    }

    /** Where the commit is chosen, but its answer is to be cut, the commit is passed on. */
    private boolean cutsRequest(byte[] buffer, int count) {
        if (!isCommit(buffer, count) || !network.cutsNow()) {
            return false;
        }
        if (network.coin()) {
            return true;
        }
        cutsAnswer = true;
        return false;
    }

    private static boolean isCommit(byte[] buffer, int count) {
        return new String(buffer, 0, count, StandardCharsets.ISO_8859_1)
                .toLowerCase(Locale.ROOT)
                .contains(COMMIT);
    }

    void cut() {
        network.forget(this);
        closeQuietly(client);
        closeQuietly(server);
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // It is of no use any more
        }
    }
}
