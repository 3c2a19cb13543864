package io.dbsemaphore.boot.autoconfigure;

import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

/** The application of a row of the host matrix, with a database of its own. */
abstract class HostMatrixFixture {

    static final String ONE_PERMIT = "semaphore.semaphores.orders.capacity=1";
    static final String OWN_TABLES = "semaphore.liquibase.enabled=true";
    static final String WITHOUT_LIQUIBASE = "spring.liquibase.enabled=false";
    static final String TABLES_BY_HIBERNATE = "spring.jpa.hibernate.ddl-auto=create";

    ConfigurableApplicationContext host;

    @AfterEach
    void stop() {
        if (host != null) {
            host.close();
        }
    }

    final JdbcTemplate jdbc(String dataSource) {
        return new JdbcTemplate(host.getBean(dataSource, DataSource.class));
    }

    final int permitsEverRequested(String dataSource) {
        return jdbc(dataSource)
                .queryForList(
                        "select p.id from permit p join semaphore s on s.id = p.semaphore_id where s.name = 'orders'")
                .size();
    }
}
