package io.dbsemaphore.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class TcpProxyTests {

    /** A server counts connections that end before their handshake, and blocks the host after a hundred. */
    @Test
    @Timeout(30)
    void keepsWhatItRefusesFromTheServer() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
                TcpProxy proxy = new TcpProxy(
                        new InetSocketAddress(server.getInetAddress(), server.getLocalPort()),
                        client -> new WireProtocol.MySql())) {
            proxy.refuse(true);
            try (Socket refused = connect(proxy)) {
                assertThat(refused.getInputStream().read()).isEqualTo(-1);
            }
            proxy.refuse(false);
            try (Socket client = connect(proxy);
                    Socket first = server.accept()) {
                first.getOutputStream().write(new byte[] {1, 0, 0, 0, 42});

                assertThat(client.getInputStream().readNBytes(5))
                        .as("what the server says to the first that has reached it")
                        .endsWith(42);
            }
        }
    }

    private static Socket connect(TcpProxy proxy) throws IOException {
        Socket socket = new Socket(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), proxy.port());
        socket.setSoTimeout(5_000);
        return socket;
    }
}
