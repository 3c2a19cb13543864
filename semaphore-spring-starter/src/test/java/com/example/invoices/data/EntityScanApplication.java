package com.example.invoices.data;

import com.example.invoices.InvoiceBook;
import com.example.invoices.model.Invoice;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.context.annotation.Import;

/** Beside its repositories, so that only its entities have to be named. */
@EnableAutoConfiguration
@EntityScan(basePackageClasses = Invoice.class)
@Import(InvoiceBook.class)
public class EntityScanApplication {}
