package com.example.quotes;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.test.PermitLeakExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.HttpStatus;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

@SpringBootTest(
        properties = {"spring.datasource.url=jdbc:h2:mem:quotes", "quotes.duration=0s", "quotes.wait-time=0s"})
@AutoConfigureMockMvc
@ExtendWith(PermitLeakExtension.class)
class QuotesApplicationTests {

    @Autowired
    private MockMvcTester http;

    @Autowired
    private SemaphoreTemplate semaphores;

    @Autowired
    private SemaphoreAdmin admin; // PermitLeakExtension reads who holds permits after the test

    @Test
    void isRefusedWhileAllPermitsOfThePartnerAreHeld() {
        // all permits of the partner, however many there are
        try (PermitGrant all = semaphores.acquire(AcquireRequest.of("partner").exclusive())) {
            assertThat(http.get().uri("/quotes/a")).hasStatus(HttpStatus.TOO_MANY_REQUESTS);
        }

        assertThat(http.get().uri("/quotes/a")).hasStatusOk().bodyText().isEqualTo("A quote for a\n");
    }
}
