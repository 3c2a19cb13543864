package io.dbsemaphore.samples.reactive;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.data.r2dbc.test.autoconfigure.DataR2dbcTest;
import org.springframework.context.annotation.Import;

/** A slice runs the method without limits: the semaphores and their pool are not in it. */
@DataR2dbcTest
@Import(Exports.class)
class SliceTests {

    @Autowired
    private Exports exports;

    @Autowired
    private InvoiceRepository invoices;

    @Test
    void exports() {
        Invoice saved = invoices.save(new Invoice(null, "Ada", 0)).block();
        assertThat(saved).isNotNull();
        Long id = saved.id();
        assertThat(id).isNotNull();

        assertThat(exports.export(id).map(Invoice::exports).block()).isEqualTo(1);
    }
}
