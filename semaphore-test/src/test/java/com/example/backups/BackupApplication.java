package com.example.backups;

import io.dbsemaphore.Permits;
import io.dbsemaphore.annotation.WithPermits;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** An application with the starter, in a package of its own. */
@SpringBootApplication
class BackupApplication {

    /** What it has in its properties, and a database that is never up. */
    static final String CAPACITY = "semaphore.semaphores.backup.capacity=1";

    static final String WAIT_TIME = "semaphore.semaphores.backup.wait-time=1h";
    static final String WEIGHTS = "semaphore.semaphores.backup.weights.acme=2";
    static final String PATTERN = "semaphore.patterns.[tenant\\:*].capacity=2";
    static final String OWNER = "semaphore.owner=backups";
    static final String NO_DATABASE = "spring.datasource.url=jdbc:postgresql://localhost:1/none";

    @RestController
    static class BackupController {

        @GetMapping("/backup")
        @WithPermits("backup")
        public String backUp() {
            Permits.assertHeld("backup");
            return "done";
        }
    }
}
