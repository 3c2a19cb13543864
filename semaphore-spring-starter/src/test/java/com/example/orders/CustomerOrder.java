package com.example.orders;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import org.jspecify.annotations.Nullable;

@Entity
public class CustomerOrder {

    @Id
    private @Nullable Long id;

    private @Nullable String customerName;

    protected CustomerOrder() {}

    public CustomerOrder(long id, String customerName) {
        this.id = id;
        this.customerName = customerName;
    }

    public @Nullable String getCustomerName() {
        return customerName;
    }
}
