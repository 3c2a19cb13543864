package io.dbsemaphore.samples.recipes.rabbit;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.qpid.server.SystemLauncher;
import org.apache.qpid.server.SystemLauncherListener.DefaultSystemLauncherListener;
import org.apache.qpid.server.model.ConfiguredObject;
import org.apache.qpid.server.model.Port;
import org.apache.qpid.server.model.Queue;
import org.apache.qpid.server.model.SystemConfig;
import org.apache.qpid.server.model.VirtualHostNode;

/** A broker in this JVM that speaks AMQP 0-9-1, as RabbitMQ does: Apache Qpid Broker-J. */
final class Broker implements AutoCloseable {

    private static final String CONFIGURATION = """
            {
              "name": "broker",
              "modelVersion": "9.0",
              "authenticationproviders": [{
                "name": "users", "type": "Plain", "secureOnlyMechanisms": [],
                "users": [{"name": "guest", "type": "managed", "password": "guest"}]
              }],
              "ports": [{
                "name": "amqp", "port": 0, "bindingAddress": "127.0.0.1", "authenticationProvider": "users",
                "protocols": ["AMQP_0_9_1"],
                "virtualhostaliases": [{"name": "default", "type": "defaultAlias"}]
              }],
              "virtualhostnodes": [{
                "name": "default", "type": "Memory", "defaultVirtualHostNode": true,
                "virtualHostInitialConfiguration": "{\\"type\\": \\"Memory\\"}"
              }]
            }
            """;

    private final SystemLauncher launcher;
    private final SystemConfig<?> system;

    private Broker(SystemLauncher launcher, SystemConfig<?> system) {
        this.launcher = launcher;
        this.system = system;
    }

    static Broker start(Path directory) throws Exception {
        Path configuration = Files.writeString(directory.resolve("broker.json"), CONFIGURATION);
        CompletableFuture<SystemConfig<?>> started = new CompletableFuture<>();
        SystemLauncher launcher = new SystemLauncher(new DefaultSystemLauncherListener() {
            @Override
            public void onContainerResolve(SystemConfig<?> system) {
                started.complete(system);
            }
        });
        launcher.startup(Map.of(
                "type",
                "Memory",
                "initialConfigurationLocation",
                configuration.toUri().toString(),
                "startupLoggedToSystemOut",
                false,
                "context",
                Map.of("qpid.work_dir", directory.toString())));
        return new Broker(launcher, started.get());
    }

    int port() {
        Port<?> port = only(system.getContainer(), Port.class);
        return port.getBoundPort();
    }

    /** How many messages of a queue no consumer has. */
    int waiting(String queue) {
        VirtualHostNode<?> node = only(system.getContainer(), VirtualHostNode.class);
        Queue<?> found = node.getVirtualHost().getChildByName(Queue.class, queue);
        return found.getAvailableMessages();
    }

    @SuppressWarnings("rawtypes") // as the model of the broker has them
    private static <T extends ConfiguredObject> T only(ConfiguredObject<?> parent, Class<T> type) {
        return parent.getChildren(type).iterator().next();
    }

    @Override
    public void close() {
        launcher.shutdown();
    }
}
