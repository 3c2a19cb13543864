package io.dbsemaphore.tools.faults.attack;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.InspectContainerResponse;
import com.github.dockerjava.api.model.ExposedPort;
import com.github.dockerjava.api.model.Ports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.testcontainers.containers.Container.ExecResult;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.JdbcDatabaseContainer;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.utility.MountableFile;

/** A server in a container. */
public final class ContainerServer extends DatabaseServer {

    private static final int SECONDS_TO_START = 300;
    private static final String NAME = ServerImage.NAME;
    private static final String LIBRARY = "/libfaketime.so";
    private static final String CLOCK = "/tmp/clock";
    private static final int EXECUTABLE = 0755;

    private final JdbcDatabaseContainer<?> container;
    private final @Nullable ServerDisk disk;
    private final boolean stepsClock;
    private final int internalPort;
    private final String url;
    private int port;

    private ContainerServer(ServerImage image, @Nullable ServerDisk disk, boolean stepsClock) {
        super(image.container().getUsername(), image.container().getPassword());
        container = image.container();
        this.disk = disk;
        this.stepsClock = stepsClock;
        internalPort = image.port();
        url = image.url();
        port = container.getMappedPort(internalPort);
    }

    /**
     * Starts a server.
     *
     * @param product {@code mysql}, {@code mariadb} or {@code postgresql}
     * @param megabytes of its disk, which can then be filled; 0 for the disk of the machine
     * @param stepsClock whether it has a clock of its own; not PostgreSQL
     * @throws IllegalArgumentException for another product
     */
    public static ContainerServer run(String product, int megabytes, boolean stepsClock) {
        ServerImage image = ServerImage.of(product);
        JdbcDatabaseContainer<?> container = image.container();
        container.withPassword(NAME).withDatabaseName(NAME);
        container.withStartupTimeoutSeconds(SECONDS_TO_START).withConnectTimeoutSeconds(SECONDS_TO_START);
        ServerDisk disk = megabytes == 0 ? null : new ServerDisk(container.getDockerImageName(), megabytes);
        if (disk != null) {
            disk.mount(container, image.data());
        }
        boolean ownClock = stepsClock && !image.program().isEmpty();
        if (ownClock) {
            giveClock(container, image.program());
        }
        container.start();
        if (!image.grant().isEmpty()) {
            run(container, image.grant().toArray(String[]::new));
        }
        return new ContainerServer(image, disk, ownClock);
    }

    /** Only the server itself has the clock: the library cannot be inherited by the process of another user. */
    private static void giveClock(JdbcDatabaseContainer<?> container, String program) {
        StringBuilder script = new StringBuilder("#!/bin/sh\n");
        FakeTime.environment(LIBRARY, CLOCK)
                .forEach((name, value) -> script.append("export %s=%s\n".formatted(name, value)));
        script.append("exec %s \"$@\"\n".formatted(program));
        container
                .withCopyFileToContainer(MountableFile.forHostPath(FakeTime.LIBRARY, EXECUTABLE), LIBRARY)
                .withCopyToContainer(
                        Transferable.of(script.toString(), EXECUTABLE),
                        program.replaceFirst("^/usr/sbin/", "/usr/local/sbin/"));
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
        Ports.Binding[] published =
                inspect().getNetworkSettings().getPorts().getBindings().get(ExposedPort.tcp(internalPort));
        if (published == null || published.length == 0) {
            throw new IOException("The container has no port after its restart");
        }
        port = Integer.parseInt(published[0].getHostPortSpec());
    }

    @Override
    boolean isRunning() {
        return Boolean.TRUE.equals(inspect().getState().getRunning());
    }

    @Override
    boolean canFillDisk() {
        return disk != null;
    }

    @Override
    void fillDisk() {
        Objects.requireNonNull(disk).fill();
    }

    @Override
    void freeDisk() {
        Objects.requireNonNull(disk).free();
    }

    @Override
    boolean canStepClock() {
        return stepsClock;
    }

    @Override
    void stepClock(long seconds) {
        run(container, "sh", "-c", "echo %s > %s.next && mv %2$s.next %2$s".formatted(FakeTime.ahead(seconds), CLOCK));
    }

    @Override
    public void close() {
        container.stop();
        if (disk != null) {
            disk.close();
        }
    }

    /** Runs a command in a container that must succeed. */
    static void run(GenericContainer<?> container, String... command) {
        try {
            ExecResult result = container.execInContainer(command);
            if (result.getExitCode() != 0) {
                throw new IllegalStateException(command[0] + ": " + result);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted", e);
        }
    }

    private InspectContainerResponse inspect() {
        return docker().inspectContainerCmd(container.getContainerId()).exec();
    }

    private DockerClient docker() {
        return container.getDockerClient();
    }
}
