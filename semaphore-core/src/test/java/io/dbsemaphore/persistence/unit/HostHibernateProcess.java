package io.dbsemaphore.persistence.unit;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.node.Node;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import org.hibernate.boot.model.naming.Identifier;
import org.hibernate.boot.model.naming.PhysicalNamingStrategyStandardImpl;
import org.hibernate.cfg.Environment;
import org.hibernate.cfg.MappingSettings;
import org.hibernate.context.spi.CurrentTenantIdentifierResolver;
import org.hibernate.engine.jdbc.env.spi.JdbcEnvironment;

/**
 * The main class of an application instance that has settings of its own for Hibernate, which reads them once in a JVM. It does what needs
 * Hibernate, and says what has come of it.
 */
final class HostHibernateProcess {

    private HostHibernateProcess() {}

    /** Argument: the folder of {@code hibernate.properties}, if there is one. */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0) {
            URL folder = Path.of(arguments[0]).toUri().toURL();
            Thread.currentThread().setContextClassLoader(new URLClassLoader(new URL[] {folder}));
        }
        System.out.println("INHERITED " + Environment.getProperties().get(MappingSettings.DEFAULT_SCHEMA));
        try (Schema schema = TestDatabase.handedOver();
                Node node = Node.on(schema)) {
            node.admin().create("of-the-host", 1);
            node.semaphores().acquire(AcquireRequest.of("of-the-host")).release();
            try (PermitGrant grant = node.semaphores().acquire(AcquireRequest.of("of-the-host"))) {
                node.admin().setCapacity("of-the-host", 3, "operator", "growth");
                System.out.printf(
                        "REPORTS %s %s %s %s%n",
                        node.admin().find("of-the-host").orElseThrow().capacity(),
                        node.admin().holders("of-the-host").size(),
                        node.admin().capacityHistory("of-the-host").size(),
                        grant.isHeld());
            }
            System.out.printf(
                    "MAINTENANCE %s %s %s%n",
                    node.maintenance().releaseOrphans(),
                    node.maintenance().deleteReleasedRequests(),
                    node.maintenance().deleteCapacityHistory());
            System.out.println("DELETED " + node.admin().delete("of-the-host"));
        }
    }

    /** Has tables whose names are not those of the library. */
    public static final class Naming extends PhysicalNamingStrategyStandardImpl {

        private static final long serialVersionUID = 1L;

        @Override
        public Identifier toPhysicalTableName(Identifier name, JdbcEnvironment environment) {
            return Identifier.toIdentifier("host_" + name.getText());
        }
    }

    /** Knows of no tenant in a thread of the library. */
    public static final class Tenants implements CurrentTenantIdentifierResolver<String> {

        @Override
        public String resolveCurrentTenantIdentifier() {
            throw new IllegalStateException("No tenant");
        }

        @Override
        public boolean validateExistingCurrentSessions() {
            return true;
        }
    }
}
