package com.example.elsewhere;

import com.example.invoices.InvoiceBook;
import com.example.invoices.data.InvoiceRepository;
import com.example.invoices.model.Invoice;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.context.annotation.Import;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;

/** Beside nothing: entities and repositories have to be named. */
@EnableAutoConfiguration
@EntityScan(basePackageClasses = Invoice.class)
@EnableJpaRepositories(basePackageClasses = InvoiceRepository.class)
@Import(InvoiceBook.class)
public class ElsewhereApplication {}
