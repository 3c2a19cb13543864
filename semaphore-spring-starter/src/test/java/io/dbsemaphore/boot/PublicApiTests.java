package io.dbsemaphore.boot;

import io.dbsemaphore.boot.autoconfigure.SemaphoreAutoConfiguration;
import io.dbsemaphore.testing.PublicApi;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** The public API is the one of the committed file: nothing that applications use goes away unnoticed. */
class PublicApiTests {

    private static final String[] PACKAGES = {"io.dbsemaphore.boot.autoconfigure", "io.dbsemaphore.boot.metrics"};

    @Test
    void isTheOneThatIsCommitted() throws IOException {
        PublicApi.ofModule(SemaphoreAutoConfiguration.class).assertCommitted(PACKAGES);
    }

    @Test
    void eachPackageSaysWhetherItIsPublic() throws IOException {
        PublicApi.assertDeclared(PACKAGES);
    }
}
