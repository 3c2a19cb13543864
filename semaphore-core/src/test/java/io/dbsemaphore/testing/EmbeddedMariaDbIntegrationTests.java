package io.dbsemaphore.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Without a Docker engine each test JVM has a server of its own, and several of them start at the same time. */
@Slow
class EmbeddedMariaDbIntegrationTests {

    /** A starting server removes all temporary tables from its directory for them, and so does the installation. */
    @Test
    void leavesTheTemporaryTablesOfOtherServersAlone() throws IOException {
        Path ofAnother = Files.createTempFile("#sql-temptable-", ".MAI");
        try {
            EmbeddedMariaDb database = new EmbeddedMariaDb("max_connections=10");
            database.stopAndDelete();

            assertThat(ofAnother).exists();
        } finally {
            Files.deleteIfExists(ofAnother);
        }
    }
}
