package com.example.invoices.model;

import com.example.invoices.InvoiceBook;
import com.example.invoices.data.InvoiceRepository;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Import;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;

/** Beside its entities, so that only its repositories have to be named. */
@EnableAutoConfiguration
@EnableJpaRepositories(basePackageClasses = InvoiceRepository.class)
@Import(InvoiceBook.class)
public class JpaRepositoriesApplication {}
