package io.dbsemaphore.boot.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TcpProxy;
import io.dbsemaphore.testing.TestDatabase;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** The page while the database is away, and after it has come back. */
@ExtendWith(OutputCaptureExtension.class)
@Slow
class DatabaseAwayIntegrationTests {

    @Test
    void saysThatItsDataAreStaleAndRecovers(CapturedOutput output) {
        TestDatabase.assumeServer();
        try (Browser browser = Browser.start();
                TestDatabase.Schema database = TestDatabase.create();
                TcpProxy proxy = database.newProxy();
                OrdersHost host = OrdersHost.webBehind(
                        database.jdbcUrl(proxy),
                        database,
                        "management.endpoints.web.exposure.include=semaphores",
                        "spring.datasource.hikari.connection-timeout=5000")) {
            browser.open("http://localhost:%d/actuator/semaphores".formatted(host.port()));
            browser.awaitText("#main", "0 of 1 held").awaitText("#freshness", "Live");

            proxy.refuse(true);
            proxy.cutAll();
            browser.awaitText("#freshness", "Stale, data of").awaitText("#problem", "The database did not answer");
            assertThat(browser.text("#main")).contains("0 of 1 held");
            assertThat(browser.accessibilityViolations()).isEmpty();
            browser.picture("stale");

            proxy.refuse(false);
            browser.awaitText("#freshness", "Live").awaitNoText("#problem", "The database did not answer");
            assertThat(output).doesNotContain("Servlet.service() for servlet");
        }
    }
}
