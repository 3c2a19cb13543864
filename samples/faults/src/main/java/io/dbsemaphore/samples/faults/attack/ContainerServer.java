package io.dbsemaphore.samples.faults.attack;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.model.ExposedPort;
import com.github.dockerjava.api.model.Ports;
import java.io.IOException;
import java.util.Map;
import org.testcontainers.mysql.MySQLContainer;

/** A MySQL in a container, with the settings of its image: full durability, and a binary log. */
public final class ContainerServer extends DatabaseServer {

    /** The image. */
    public static final String IMAGE = "mysql:9.7";

    private static final String DATABASE = "faults";
    private static final String PASSWORD = "faults";

    private final MySQLContainer container;
    private int port;

    private ContainerServer(MySQLContainer container) {
        super(container.getUsername(), container.getPassword());
        this.container = container;
        port = container.getMappedPort(MySQLContainer.MYSQL_PORT);
    }

    /** Starts a server. */
    public static ContainerServer run() {
        MySQLContainer container = new MySQLContainer(IMAGE)
                .withConfigurationOverride(null)
                .withUsername("root")
                .withPassword(PASSWORD)
                .withDatabaseName(DATABASE)
                .withCommand("--max-connections=300");
        container.start();
        return new ContainerServer(container);
    }

    @Override
    public synchronized String url() {
        return "jdbc:mysql://%s:%d/%s?allowPublicKeyRetrieval=true&sslMode=DISABLED"
                .formatted(container.getHost(), port, DATABASE);
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
        Ports.Binding[] published = bindings.get(ExposedPort.tcp(MySQLContainer.MYSQL_PORT));
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
