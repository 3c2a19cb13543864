package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** As devtools shut down a database in memory: before the engine is closed, and maybe while work goes on. */
@EnabledOnDatabase(DatabaseKind.H2)
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TablesGoneIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);

    @Test
    void isToldInOneLine() throws Exception {
        try (Schema apart = TestDatabase.create().migrate()) {
            Node node = Node.on(apart, TestSettings.instanceTimeout(Duration.ofSeconds(20), Duration.ofSeconds(1)));
            ShutdownIntegrationTests.holdTwo(node);
            String name = node.semaphore(1);

            List<ILoggingEvent> ofWork = ShutdownIntegrationTests.eventsWhile(() -> node.semaphores()
                    .execute(AcquireRequest.of(name), grant -> {
                        apart.jdbc().execute("shutdown");
                        return true;
                    }));
            List<ILoggingEvent> ofShutdown = ShutdownIntegrationTests.eventsWhile(
                    () -> ShutdownIntegrationTests.close(node).get(SOON.toSeconds(), TimeUnit.SECONDS));

            assertThat(ofWork)
                    .singleElement()
                    .satisfies(event -> assertThat(event.getFormattedMessage())
                            .contains("is retried in the background", "not found"));
            assertThat(ofShutdown)
                    .singleElement()
                    .satisfies(event ->
                            assertThat(event.getFormattedMessage()).contains("gone at shutdown", "3 grant(s)"));
            assertThat(Stream.concat(ofWork.stream(), ofShutdown.stream())).allSatisfy(event -> {
                assertThat(event.getLevel()).isEqualTo(Level.WARN);
                assertThat(event.getFormattedMessage().lines()).hasSize(1);
                assertThat(event.getThrowableProxy()).isNull();
            });
        }
    }
}
