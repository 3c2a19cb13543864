package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.boot.autoconfigure.SemaphoreProperties.Declared;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.InitializingBean;

/** Creates the semaphores of the properties that are not there yet. What is there is as an operator wants it. */
final class DeclaredSemaphores implements InitializingBean {

    private static final Logger log = LoggerFactory.getLogger(DeclaredSemaphores.class);

    private static final String KEPT = """
            Semaphore '{}' keeps its capacity {}, which differs from the {} that is configured: it was changed at run \
            time, or the configuration was changed later. SemaphoreAdmin.setCapacity changes it""";

    private final SemaphoreAdmin admin;
    private final Map<String, Declared> semaphores;

    DeclaredSemaphores(SemaphoreAdmin admin, Map<String, Declared> semaphores) {
        this.admin = admin;
        this.semaphores = semaphores;
    }

    @Override
    public void afterPropertiesSet() {
        semaphores.forEach((name, declared) -> createIfAbsent(name, declared.capacity()));
    }

    private void createIfAbsent(String name, int capacity) {
        if (admin.create(name, capacity)) {
            log.info("Created semaphore '{}' with capacity {}", name, capacity);
            return;
        }
        admin.find(name).ifPresent(existing -> {
            if (existing.capacity() != capacity) {
                log.info(KEPT, name, existing.capacity(), capacity);
            }
        });
    }
}
