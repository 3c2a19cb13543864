package com.example.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.test.InMemorySemaphores;
import org.junit.jupiter.api.Test;

/** The released semaphores in memory limit what a bean does, without a database. */
class PrinterTests {

    private final InMemorySemaphores semaphores = InMemorySemaphores.of("printer", 1);
    private final Printer printer = semaphores.guard(new Printer());

    @Test
    void isRefusedOnce() {
        semaphores.refuseNext("printer");

        assertThatExceptionOfType(PermitsUnavailableException.class).isThrownBy(printer::print);
        assertThat(printer.print()).isTrue();
    }
}
