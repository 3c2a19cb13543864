package io.dbsemaphore.boot.publishing;

import io.dbsemaphore.boot.autoconfigure.SemaphoreProperties;
import io.dbsemaphore.boot.mutex.MutexPattern;
import io.dbsemaphore.testing.PublicApi;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** The public API is the one of the committed file: nothing that applications use goes away unnoticed. */
class PublicApiTests {

    @Test
    void isTheOneThatIsCommitted() throws IOException {
        PublicApi.ofModule(SemaphoreProperties.class, MutexPattern.class::equals)
                .assertCommitted(
                        "io.dbsemaphore.boot.autoconfigure",
                        "io.dbsemaphore.boot.integration",
                        "io.dbsemaphore.boot.metrics",
                        "io.dbsemaphore.boot.shedlock");
    }
}
