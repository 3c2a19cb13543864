package com.example.plainrepositories;

import io.dbsemaphore.annotation.WithPermits;
import org.springframework.stereotype.Service;

/** Needs the repository: without it, the application does not start. */
@Service
public class CustomerService {

    private final CustomerRepository customers;

    CustomerService(CustomerRepository customers) {
        this.customers = customers;
    }

    public CustomerRepository customers() {
        return customers;
    }

    /** Stores and reads a customer under a permit. */
    @WithPermits(names = "orders")
    public String storeAndRead(String name) {
        customers.save(new Customer(1L, null, name));
        return customers.findById(1L).orElseThrow().name();
    }
}
