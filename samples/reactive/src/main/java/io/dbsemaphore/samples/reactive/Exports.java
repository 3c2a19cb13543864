package io.dbsemaphore.samples.reactive;

import io.dbsemaphore.annotation.WithPermits;
import java.time.Duration;
import org.springframework.stereotype.Service;
import reactor.core.publisher.Mono;

/** Exports of invoices to a partner who accepts one at a time. */
@Service
class Exports {

    private final InvoiceRepository invoices;

    Exports(InvoiceRepository invoices) {
        this.invoices = invoices;
    }

    /** Reads and writes the invoice by R2DBC, while a permit is held that was acquired by JDBC. */
    @WithPermits(names = "export", waitTime = "10s")
    public Mono<Invoice> export(long id) {
        return invoices.findById(id)
                .delayElement(Duration.ofMillis(100)) // the partner
                .map(invoice -> new Invoice(invoice.id(), invoice.customer(), invoice.exports() + 1))
                .flatMap(invoices::save);
    }
}
