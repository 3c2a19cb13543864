package com.example.orders;

import io.dbsemaphore.annotation.WithPermits;
import jakarta.persistence.EntityManager;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
public class OrderService {

    private final CustomerOrderRepository orders;
    private final EntityManager entityManager;

    OrderService(CustomerOrderRepository orders, EntityManager entityManager) {
        this.orders = orders;
        this.entityManager = entityManager;
    }

    @Transactional
    public void place(long id, String customerName) {
        orders.save(new CustomerOrder(id, customerName));
    }

    @Transactional
    @WithPermits("orders")
    public void placeUnderPermit(long id, String customerName) {
        orders.save(new CustomerOrder(id, customerName));
    }

    @Transactional
    @WithPermits("orders")
    public void insertUnderPermit(long id, String customerName) {
        entityManager.persist(new CustomerOrder(id, customerName));
    }

    @Transactional
    public void placeAndFail(long id, String customerName) {
        orders.saveAndFlush(new CustomerOrder(id, customerName));
        throw new IllegalStateException("no stock");
    }
}
