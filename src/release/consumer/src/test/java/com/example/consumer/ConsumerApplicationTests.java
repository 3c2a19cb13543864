package com.example.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreTemplate;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

/** The released library limits what the application does. */
@SpringBootTest
class ConsumerApplicationTests {

    @Autowired
    private Printer printer;

    @Autowired
    private SemaphoreTemplate semaphores;

    @Test
    void printsOneJobAtATime() {
        try (PermitGrant grant = semaphores.acquire(AcquireRequest.of("printer"))) {
            assertThat(grant.isHeld()).isTrue();
            assertThatExceptionOfType(PermitsUnavailableException.class).isThrownBy(printer::print);
        }

        assertThat(printer.print()).isTrue();
    }
}
