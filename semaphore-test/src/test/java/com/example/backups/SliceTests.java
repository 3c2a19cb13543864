package com.example.backups;

import static io.dbsemaphore.test.SemaphoreAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.test.InMemorySemaphores;
import io.dbsemaphore.test.autoconfigure.AutoConfigureSemaphores;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.ApplicationContext;
import org.springframework.http.HttpStatus;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

/** A slice has no semaphores of its own; with the annotation they are in memory. */
@WebMvcTest(properties = BackupApplication.CAPACITY)
@AutoConfigureSemaphores
class SliceTests {

    @Autowired
    private MockMvcTester http;

    @Autowired
    private InMemorySemaphores semaphores;

    @Autowired
    private ApplicationContext context;

    @Test
    void countsPermits() {
        assertThat(http.get().uri("/backup")).hasStatusOk().bodyText().isEqualTo("done");
        assertThat(semaphores).semaphore("backup").hasCapacity(1).hasHeld(0);
    }

    @Test
    void answersARefusedRequest() {
        semaphores.refuseNext("backup");

        assertThat(http.get().uri("/backup")).hasStatus(HttpStatus.TOO_MANY_REQUESTS);
        assertThat(http.get().uri("/backup")).hasStatusOk();
    }

    @Test
    void hasNoDatabase() {
        assertThat(context.getBeanNamesForType(DataSource.class)).isEmpty();
    }
}
