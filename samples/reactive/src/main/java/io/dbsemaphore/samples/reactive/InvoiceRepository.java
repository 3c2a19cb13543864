package io.dbsemaphore.samples.reactive;

import org.springframework.data.r2dbc.repository.R2dbcRepository;

interface InvoiceRepository extends R2dbcRepository<Invoice, Long> {}
