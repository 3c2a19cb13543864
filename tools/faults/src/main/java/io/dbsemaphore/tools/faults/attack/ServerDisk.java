package io.dbsemaphore.tools.faults.attack;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.model.Bind;
import java.util.Map;
import java.util.UUID;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;

/**
 * A disk of limited size for the data of a server: a file system in memory. A container of its own keeps it while the server is
 * killed, and fills it.
 */
final class ServerDisk implements AutoCloseable {

    private static final String MOUNTED = "/disk";
    private static final String FILLER = MOUNTED + "/filler";

    private final String volume = "faults-" + UUID.randomUUID();
    private final GenericContainer<?> keeper;

    /** @param image that is there already, with a shell */
    ServerDisk(String image, int megabytes) {
        docker().createVolumeCmd()
                .withName(volume)
                .withDriver("local")
                .withDriverOpts(Map.of("type", "tmpfs", "device", "tmpfs", "o", "size=" + megabytes + "m"))
                .exec();
        keeper = new GenericContainer<>(image)
                .withCreateContainerCmdModifier(container -> container.withEntrypoint("sleep", "infinity"));
        mount(keeper, MOUNTED);
        keeper.start();
    }

    /** Lets a container have it in this directory. */
    void mount(GenericContainer<?> container, String directory) {
        container.withCreateContainerCmdModifier(
                create -> create.getHostConfig().withBinds(Bind.parse(volume + ":" + directory)));
    }

    /** Leaves no free byte. */
    void fill() {
        // The blocks that are too small for the first writer are filled by the second; both end with an error
        ContainerServer.run(keeper, "sh", "-c", "cat /dev/zero > %1$s; cat /dev/zero >> %1$s; true".formatted(FILLER));
    }

    /** Frees what was filled. */
    void free() {
        ContainerServer.run(keeper, "rm", "-f", FILLER);
    }

    @Override
    public void close() {
        keeper.stop();
        docker().removeVolumeCmd(volume).exec();
    }

    private static DockerClient docker() {
        return DockerClientFactory.instance().client();
    }
}
