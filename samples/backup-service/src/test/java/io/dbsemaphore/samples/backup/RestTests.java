package io.dbsemaphore.samples.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreTemplate;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.HttpStatus;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

@SpringBootTest(
        properties = {
            "spring.datasource.url=jdbc:h2:mem:rest",
            "transfer.block=1ms",
            "transfer.min-blocks=1",
            "transfer.max-blocks=1"
        })
@AutoConfigureMockMvc
class RestTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    @Autowired
    private MockMvcTester mvc;

    @Autowired
    private SemaphoreTemplate semaphores;

    @Autowired
    private JobLog jobs;

    @Test
    void startsBackupThatWaitsForItsPermits() {
        String job;
        try (PermitGrant all = semaphores.acquire(AcquireRequest.of("backup").exclusive())) {
            MvcTestResult started = post("/backups?snapshot=orders");
            assertThat(started).hasStatus(HttpStatus.ACCEPTED);
            job = started.getResponse().getHeader("Location");
            assertThat(get(job)).bodyJson().extractingPath("$.state").isEqualTo("WAITING");
        }
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(get(job))
                        .bodyJson()
                        .extractingPath("$.state")
                        .isEqualTo("DONE"));
        assertThat(get("/backups"))
                .bodyJson()
                .extractingPath("$[*].snapshot")
                .asArray()
                .contains("orders");
    }

    @Test
    void replicatesAtOnce() {
        assertThat(post("/replications?snapshot=orders"))
                .hasStatusOk()
                .bodyJson()
                .extractingPath("$.state")
                .isEqualTo("DONE");
    }

    @Test
    void answersTooManyRequestsAndWhenToRetry() {
        AcquireRequest all = AcquireRequest.of("network").exclusive();
        try (PermitGrant grant =
                semaphores.acquire(all.withTtl(Duration.ofSeconds(20)).withWaitTime(TIMEOUT))) {
            MvcTestResult refused = post("/replications?snapshot=invoices");
            assertThat(refused).hasStatus(HttpStatus.TOO_MANY_REQUESTS);
            assertThat(Integer.parseInt(refused.getResponse().getHeader("Retry-After")))
                    .isBetween(1, 10);
            assertThat(refused).bodyJson().extractingPath("$.detail").asString().contains("Try again later");
        }
        assertThat(jobs.recent())
                .filteredOn(job -> job.snapshot().equals("invoices"))
                .extracting(Job::state)
                .containsExactly(JobState.REFUSED);
    }

    private MvcTestResult get(String uri) {
        return mvc.get().uri(uri).exchange();
    }

    private MvcTestResult post(String uri) {
        return mvc.post().uri(uri).exchange();
    }
}
