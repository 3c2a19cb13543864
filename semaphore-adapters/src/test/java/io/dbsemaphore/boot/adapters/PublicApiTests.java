package io.dbsemaphore.boot.adapters;

import io.dbsemaphore.boot.mutex.MutexRequests;
import io.dbsemaphore.testing.PublicApi;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** The public API is the one of the committed file: nothing that applications use goes away unnoticed. */
class PublicApiTests {

    private static final String[] PACKAGES = {"io.dbsemaphore.boot.integration", "io.dbsemaphore.boot.shedlock"};

    @Test
    void isTheOneThatIsCommitted() throws IOException {
        PublicApi.ofModule(MutexRequests.class).assertCommitted(PACKAGES);
    }

    @Test
    void eachPackageSaysWhetherItIsPublic() throws IOException {
        PublicApi.assertDeclared(PACKAGES);
    }
}
