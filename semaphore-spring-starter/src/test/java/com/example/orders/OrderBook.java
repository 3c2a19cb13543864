package com.example.orders;

import com.example.Bookkeeping;
import io.dbsemaphore.Permits;
import io.dbsemaphore.annotation.WithPermits;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
public class OrderBook implements Bookkeeping {

    private final CustomerOrderRepository orders;

    OrderBook(CustomerOrderRepository orders) {
        this.orders = orders;
    }

    @Override
    @Transactional
    public void book(long id) {
        orders.save(new CustomerOrder(id, "Ada"));
    }

    @Override
    @Transactional
    @WithPermits("orders")
    public boolean bookUnderPermit(long id) {
        orders.save(new CustomerOrder(id, "Ada"));
        return Permits.find().isPresent();
    }

    @Override
    @Transactional
    public void bookAndFail(long id) {
        orders.saveAndFlush(new CustomerOrder(id, "Ada"));
        throw new IllegalStateException("no stock");
    }

    @Override
    public boolean isBooked(long id) {
        return orders.existsById(id);
    }
}
