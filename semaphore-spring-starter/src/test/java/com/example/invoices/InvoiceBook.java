package com.example.invoices;

import com.example.Bookkeeping;
import com.example.invoices.data.InvoiceRepository;
import com.example.invoices.model.Invoice;
import io.dbsemaphore.Permits;
import io.dbsemaphore.annotation.WithPermits;
import org.springframework.transaction.annotation.Transactional;

public class InvoiceBook implements Bookkeeping {

    private final InvoiceRepository invoices;

    InvoiceBook(InvoiceRepository invoices) {
        this.invoices = invoices;
    }

    @Override
    @Transactional
    public void book(long id) {
        invoices.save(new Invoice(id));
    }

    @Override
    @Transactional
    @WithPermits("orders")
    public boolean bookUnderPermit(long id) {
        invoices.save(new Invoice(id));
        return Permits.find().isPresent();
    }

    @Override
    @Transactional
    public void bookAndFail(long id) {
        invoices.saveAndFlush(new Invoice(id));
        throw new IllegalStateException("no money");
    }

    @Override
    public boolean isBooked(long id) {
        return invoices.existsById(id);
    }
}
