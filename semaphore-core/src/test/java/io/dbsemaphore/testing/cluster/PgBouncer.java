package io.dbsemaphore.testing.cluster;

import io.dbsemaphore.testing.TestDatabase.Schema;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A real PgBouncer before the PostgreSQL of the tests, in transaction mode: each transaction of a client gets one of a few
 * sessions of the server. It is Debian's package {@code pgbouncer}; the tests are skipped where it is not installed.
 */
public final class PgBouncer implements AutoCloseable {

    /** The sessions of the server that all clients share. */
    public static final int SESSIONS = 3;

    private final Schema schema;
    private final LocalProxy proxy;

    private PgBouncer(Schema schema) {
        this.schema = schema;
        List<String> options = new ArrayList<>();
        if ("root".equals(System.getProperty("user.name"))) {
            options.addAll(List.of("-u", "nobody")); // it does not run as root
        }
        proxy = LocalProxy.start("pgbouncer", this::configuration, file -> {
            options.add(file.toString());
            return options;
        });
    }

    /** Starts one; skips the test where there is none. */
    public static PgBouncer before(Schema schema) {
        return new PgBouncer(schema);
    }

    /** The database of the schema behind it, without server-side prepared statements, which belong to one session. */
    public String url() {
        return "jdbc:postgresql://127.0.0.1:%d/%s?prepareThreshold=0".formatted(proxy.port(), schema.name());
    }

    /** Kills it, with all connections of clients and servers, and starts it again. */
    public void restart() throws IOException, InterruptedException {
        proxy.restart();
    }

    private String configuration(int port) {
        String server = schema.jdbcUrl().replaceFirst("^jdbc:postgresql://", "").replaceFirst("/.*", "");
        return """
                [databases]
                %s = host=%s port=%s user=%s password=%s
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = %d
                unix_socket_dir =
                auth_type = any
                pool_mode = transaction
                default_pool_size = %d
                max_client_conn = 200
                ignore_startup_parameters = extra_float_digits
                """.formatted(
                        schema.name(),
                        server.split(":")[0].replace("localhost", "127.0.0.1"),
                        server.split(":")[1],
                        schema.username(),
                        schema.password(),
                        port,
                        SESSIONS);
    }

    @Override
    public void close() {
        proxy.close();
    }
}
