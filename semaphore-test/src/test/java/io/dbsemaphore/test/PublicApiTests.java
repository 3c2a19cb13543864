package io.dbsemaphore.test;

import io.dbsemaphore.testing.PublicApi;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** The public API is the one of the committed file: nothing that applications use goes away unnoticed. */
class PublicApiTests {

    private static final String[] PACKAGES = {"io.dbsemaphore.test", "io.dbsemaphore.test.autoconfigure"};

    @Test
    void isTheOneThatIsCommitted() throws IOException {
        PublicApi.ofModule(InMemorySemaphores.class).assertCommitted(PACKAGES);
    }

    @Test
    void eachPackageSaysWhetherItIsPublic() throws IOException {
        PublicApi.assertDeclared(PACKAGES);
    }
}
