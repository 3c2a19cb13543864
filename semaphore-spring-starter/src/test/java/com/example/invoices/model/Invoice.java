package com.example.invoices.model;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import org.jspecify.annotations.Nullable;

@Entity
public class Invoice {

    @Id
    private @Nullable Long id;

    protected Invoice() {}

    public Invoice(long id) {
        this.id = id;
    }
}
