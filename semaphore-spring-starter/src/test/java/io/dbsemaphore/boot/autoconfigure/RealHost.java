package io.dbsemaphore.boot.autoconfigure;

import com.example.orders.CustomerOrder;
import com.example.orders.CustomerOrderRepository;
import com.example.orders.OrderService;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.testing.TestDatabase;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.transaction.support.TransactionTemplate;

/** The JPA application on the real database of these tests, with a semaphore {@code orders} of capacity 1. */
final class RealHost implements AutoCloseable {

    /** Without those that the scheduled maintenance takes of its own semaphore. */
    static final String HELD_PERMITS = "select count(*) from permit p join semaphore s on s.id = p.semaphore_id"
            + " where p.state = 'ACQUIRED' and s.name = 'orders'";

    final TestDatabase.Schema database = TestDatabase.create();
    final ConfigurableApplicationContext context;

    RealHost(Class<?>... beans) {
        List<Object> sourcesAndProperties = Stream.concat(
                        Arrays.stream((Object[]) beans),
                        Stream.of(
                                "spring.datasource.url=" + database.jdbcUrl(),
                                "spring.datasource.username=" + database.username(),
                                "spring.datasource.password=" + database.password(),
                                "spring.jpa.hibernate.ddl-auto=validate",
                                "semaphore.semaphores.orders.capacity=1"))
                .toList();
        context = Hosts.orders(sourcesAndProperties.toArray());
    }

    SemaphoreTemplate semaphores() {
        return context.getBean(SemaphoreTemplate.class);
    }

    SemaphoreAdmin admin() {
        return context.getBean(SemaphoreAdmin.class);
    }

    OrderService orders() {
        return context.getBean(OrderService.class);
    }

    TransactionTemplate transaction() {
        return context.getBean(TransactionTemplate.class);
    }

    /** Something of the application's to commit. */
    void save(long id) {
        context.getBean(CustomerOrderRepository.class).saveAndFlush(new CustomerOrder(id, "Ada"));
    }

    /** How many orders another connection sees. */
    int committedOrders() {
        return count("select count(*) from customer_order");
    }

    /** How many permits another connection sees held. */
    int heldPermits() {
        return count(HELD_PERMITS);
    }

    private int count(String query) {
        Integer count = database.jdbc().queryForObject(query, Integer.class);
        return count == null ? 0 : count;
    }

    @Override
    public void close() {
        context.close();
        database.close();
    }
}
