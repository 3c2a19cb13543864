package io.dbsemaphore.testing.cluster;

import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.TestDatabase.Schema;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;

/**
 * A real HAProxy before MySQL servers that replicate: it connects clients to the one that is written to. It is Debian's
 * package {@code haproxy}; the tests are skipped where it is not installed.
 */
public final class HaProxy implements AutoCloseable {

    /** A connection on which nothing is sent for so long is cut: shorter than callers wait. */
    public static final Duration IDLE_LIMIT = Duration.ofSeconds(30);

    private static final HexFormat HEX = HexFormat.of();

    /** The user of the health check: without a password and privileges. */
    private static final String USER = "router";

    private static final String WRITES = "writes";
    private static final String QUESTION = "select if(@@global.super_read_only, 'reads', '" + WRITES + "') as answer";

    private final LocalProxy proxy;

    private HaProxy(List<MySqlServer> servers) {
        proxy = LocalProxy.start(
                "haproxy", port -> configuration(port, servers), file -> List.of("-db", "-f", file.toString()));
    }

    /** Skips the test where there is none. */
    static void assumeInstalled() {
        LocalProxy.assumeInstalled("haproxy");
    }

    /** Starts one. The first server writes, and the others get from it the user that asks for this. */
    static HaProxy before(List<MySqlServer> servers) {
        servers.get(0).execute("create user " + USER);
        HaProxy started = new HaProxy(servers);
        Awaitility.await("HAProxy, which takes all servers for good until it has asked them")
                .atMost(Duration.ofSeconds(60))
                .until(() -> started.proxy.output().split(" is DOWN", -1).length >= servers.size());
        return started;
    }

    /** A database on whichever of the servers is written to. */
    Schema schema(String database) {
        return new Schema(
                DatabaseKind.MYSQL,
                database,
                DatabaseKind.MYSQL.url("127.0.0.1", proxy.port(), database),
                MySqlServer.USER,
                MySqlServer.PASSWORD,
                null,
                () -> {});
    }

    private static String configuration(int port, List<MySqlServer> servers) {
        return """
                defaults
                    mode tcp
                    timeout connect 2s
                    timeout client %1$dms
                    timeout server %1$dms
                    timeout check 2s
                listen primary
                    bind 127.0.0.1:%2$d
                    option tcp-check
                    tcp-check connect
                    tcp-check expect rstring mysql|sha2
                    tcp-check send-binary %3$s
                    tcp-check expect binary 00000002
                    tcp-check send-binary %4$s
                    tcp-check expect string %5$s
                    default-server check inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
                %6$s
                """.formatted(
                        IDLE_LIMIT.toMillis(),
                        port,
                        packet(1, logIn()),
                        packet(0, "03" + hex(QUESTION)),
                        WRITES,
                        servers.stream()
                                .map(server -> "    server %s %s:%d"
                                        .formatted(
                                                server.name(),
                                                server.address().getHostString().replace("localhost", "127.0.0.1"),
                                                server.address().getPort()))
                                .collect(Collectors.joining("\n")));
    }

    /** Capabilities (protocol 4.1, secure connection, plug-in), longest packet, character set, reserved, user, no password. */
    private static String logIn() {
        return "01820800" + "00000001" + "2d" + "00".repeat(23) + hex(USER) + "00" + "00" + hex("caching_sha2_password")
                + "00";
    }

    /** Length in three bytes, number, content. */
    private static String packet(int number, String content) {
        int length = content.length() / 2;
        return "%02x%02x00%02x".formatted(length & 0xff, length >> 8, number) + content;
    }

    private static String hex(String text) {
        return HEX.formatHex(text.getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    public void close() {
        proxy.close();
    }
}
