package io.dbsemaphore;

import io.dbsemaphore.engine.SchemaScript;
import io.dbsemaphore.testing.PublicApi;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** The public API is the one of the committed file: nothing that applications use goes away unnoticed. */
class PublicApiTests {

    @Test
    void isTheOneThatIsCommitted() throws IOException {
        PublicApi.ofModule(SemaphoreTemplate.class, SchemaScript.class::equals)
                .assertCommitted(
                        "io.dbsemaphore",
                        "io.dbsemaphore.annotation",
                        "io.dbsemaphore.config",
                        "io.dbsemaphore.engine");
    }
}
