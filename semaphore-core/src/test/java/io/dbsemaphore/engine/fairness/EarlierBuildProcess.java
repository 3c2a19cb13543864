package io.dbsemaphore.engine.fairness;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.testing.TestDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * The main class of a process with an earlier build of the library: it uses only what all builds have. For each line it reads, a caller
 * waits for a permit of the semaphore of that name, releases it, and says {@code RELEASED}.
 */
final class EarlierBuildProcess {

    private EarlierBuildProcess() {}

    public static void main(String[] arguments) throws IOException {
        try (HikariDataSource pool = TestDatabase.handedOver().newPool(4);
                SemaphoreEngine engine = new SemaphoreEngine(pool, SemaphoreSettings.defaults());
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            SemaphoreTemplate semaphores = new SemaphoreTemplate(engine.permitManager());
            System.out.println("READY");
            for (String name = in.readLine(); name != null; name = in.readLine()) {
                AcquireRequest request = AcquireRequest.of(name).withWaitTime(Duration.ofMinutes(2));
                semaphores.acquire(request).release();
                System.out.println("RELEASED");
            }
        }
    }
}
