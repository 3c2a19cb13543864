package io.dbsemaphore.samples.backup.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.samples.backup.BackupApplication;
import java.io.IOException;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * The operator's page moves while the sample is at work. Leaves the picture of the README in {@code target/page}: for that
 * one, let the page be open for some minutes, {@code -Dlive.watch=PT4M}.
 */
@Tag("slow")
class LivePageIntegrationTests {

    private static final Duration WATCH = Duration.parse(System.getProperty("live.watch", "PT0S"));

    private ConfigurableApplicationContext sample;
    private OperatorsPage page;

    @BeforeEach
    void start() {
        page = OperatorsPage.start();
        sample = new SpringApplicationBuilder(BackupApplication.class)
                .profiles("live")
                .run("--server.port=0", "--spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID());
    }

    @AfterEach
    void stop() {
        if (page != null) {
            page.close();
        }
        if (sample != null) {
            sample.close();
        }
    }

    @Test
    void showsTwoInstancesAtWork() throws IOException {
        page.size(1200, 720);
        open("");
        page.awaitText("network", "partner-api", "thumbnails");
        String before = page.content();
        await().atMost(OperatorsPage.SOON).until(() -> !page.content().equals(before));
        await().pollDelay(WATCH).atMost(WATCH.plus(OperatorsPage.SOON)).until(() -> true);
        page.picture("overview");

        open("#/semaphore/backup");
        page.awaitText("node-1", "node-2");
        page.awaitText("held at once in the last hour");
        page.size(1200, page.bottomOf("section[aria-labelledby='timeline-title'] details"));
        page.picture("semaphore");

        open("#/instances");
        page.awaitText("node-1", "node-2");
        page.picture("instances");
    }

    /** As after Ctrl-C. Jobs that run have some seconds of work left. */
    @Test
    void releasesAllPermitsWhenItIsStopped() {
        SemaphoreAdmin admin = sample.getBean(SemaphoreAdmin.class);
        await().atMost(OperatorsPage.SOON)
                .until(() -> admin.find("backup").orElseThrow().held() > 0);
        sample.getBean(LiveInstances.class).stop();
        sample.getBean(LiveJobs.class).stop();

        await().atMost(OperatorsPage.SOON)
                .untilAsserted(() -> assertThat(admin.list()).allMatch(semaphore -> semaphore.held() == 0));
    }

    private void open(String hash) {
        page.open("http://localhost:%s/actuator/semaphores%s"
                .formatted(sample.getEnvironment().getProperty("local.server.port"), hash));
    }
}
