package io.dbsemaphore.samples.faults.attack;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.model.ExposedPort;
import com.github.dockerjava.api.model.Ports;
import java.io.IOException;
import java.util.Map;
import org.testcontainers.containers.JdbcDatabaseContainer;
import org.testcontainers.mariadb.MariaDBContainer;
import org.testcontainers.mysql.MySQLContainer;
import org.testcontainers.postgresql.PostgreSQLContainer;

/** A server in a container, with the settings of its image: full durability, and on MySQL a binary log. */
public final class ContainerServer extends DatabaseServer {

    private static final String NAME = "faults";

    private final JdbcDatabaseContainer<?> container;
    private final int internalPort;
    private final String url;
    private int port;

    private ContainerServer(JdbcDatabaseContainer<?> container, int internalPort, String url) {
        super(container.getUsername(), container.getPassword());
        this.container = container;
        this.internalPort = internalPort;
        this.url = url;
        port = container.getMappedPort(internalPort);
    }

    /**
     * Starts a server.
     *
     * @param product {@code mysql}, {@code mariadb} or {@code postgresql}
     * @throws IllegalArgumentException for another product
     */
    public static ContainerServer run(String product) {
        return switch (product) {
            case "mysql" ->
                start(
                        new MySQLContainer("mysql:9.7")
                                .withConfigurationOverride(null)
                                .withUsername("root")
                                .withCommand("--max-connections=300"),
                        MySQLContainer.MYSQL_PORT,
                        "jdbc:mysql://%s:%d/%s?allowPublicKeyRetrieval=true&sslMode=DISABLED");
            case "mariadb" ->
                start(
                        new MariaDBContainer("mariadb:11.8")
                                .withConfigurationOverride(null)
                                .withCommand("--max-connections=300"),
                        MySQLContainer.MYSQL_PORT,
                        "jdbc:mariadb://%s:%d/%s");
            // Without server-side preparation, so that commits are seen on the wire
            case "postgresql" ->
                start(
                        new PostgreSQLContainer("postgres:17").withCommand("postgres", "-c", "max_connections=300"),
                        PostgreSQLContainer.POSTGRESQL_PORT,
                        "jdbc:postgresql://%s:%d/%s?sslmode=disable&prepareThreshold=0");
            default -> throw new IllegalArgumentException("--database takes mysql, mariadb or postgresql: " + product);
        };
    }

    private static ContainerServer start(JdbcDatabaseContainer<?> container, int port, String url) {
        container.withPassword(NAME).withDatabaseName(NAME);
        container.start();
        return new ContainerServer(container, port, url);
    }

    @Override
    public synchronized String url() {
        return url.formatted(container.getHost(), port, NAME);
    }

    @Override
    public boolean canBeKilled() {
        return true;
    }

    @Override
    void kill() {
        docker().killContainerCmd(container.getContainerId()).exec();
    }

    /** The port changes with each start. */
    @Override
    synchronized void start() throws IOException {
        docker().startContainerCmd(container.getContainerId()).exec();
        Map<ExposedPort, Ports.Binding[]> bindings = docker().inspectContainerCmd(container.getContainerId())
                .exec()
                .getNetworkSettings()
                .getPorts()
                .getBindings();
        Ports.Binding[] published = bindings.get(ExposedPort.tcp(internalPort));
        if (published == null || published.length == 0) {
            throw new IOException("The container has no port after its restart");
        }
        port = Integer.parseInt(published[0].getHostPortSpec());
    }

    @Override
    public void close() {
        container.stop();
    }

    private DockerClient docker() {
        return container.getDockerClient();
    }
}
