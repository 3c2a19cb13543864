package io.dbsemaphore.boot.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

import com.example.ledger.LedgerApplication;
import com.example.orders.OrdersApplication;
import io.dbsemaphore.boot.autoconfigure.AtHome;
import io.dbsemaphore.boot.autoconfigure.Hosts;
import jakarta.persistence.EntityManagerFactory;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

/** The library's own Hibernate writes nothing to the application's log; the application's own writes as before. */
@ExtendWith(OutputCaptureExtension.class)
class QuietPersistenceUnitTests {

    private static final String[] ALL_OF_HIBERNATE = {
        "logging.level.org.hibernate=info", "spring.liquibase.enabled=false"
    };
    private static final String ONE_PERMIT = "semaphore.semaphores.orders.capacity=1";

    @Test
    void writesNothingAtStartAndStop(CapturedOutput output) {
        try (ConfigurableApplicationContext host = Hosts.start(
                LedgerApplication.class,
                "spring.sql.init.schema-locations=classpath:com/example/ledger/schema.sql",
                ONE_PERMIT,
                ALL_OF_HIBERNATE[0],
                ALL_OF_HIBERNATE[1])) {
            AtHome.assertIn(host);
        }

        assertThat(messagesOfHibernate(output)).isEmpty();
    }

    @Test
    void writesNothingAboutMissingTables(CapturedOutput output) {
        assertThatException()
                .isThrownBy(() -> Hosts.start(
                        LedgerApplication.class,
                        "semaphore.jdbc.initialize-schema=never",
                        ALL_OF_HIBERNATE[0],
                        ALL_OF_HIBERNATE[1]));

        assertThat(output).contains("Tables of the semaphores are missing");
        assertThat(messagesOfHibernate(output)).isEmpty();
    }

    @Test
    void leavesTheLogOfTheApplicationsHibernateAsItIs(CapturedOutput output) {
        try (ConfigurableApplicationContext host = Hosts.start(
                OrdersApplication.class,
                "spring.jpa.hibernate.ddl-auto=create",
                ONE_PERMIT,
                ALL_OF_HIBERNATE[0],
                ALL_OF_HIBERNATE[1])) {
            EntityManagerFactory factory = host.getBean(EntityManagerFactory.class);
            assertThatException()
                    .isThrownBy(() -> factory.callInTransaction(entities ->
                            entities.createNativeQuery("select * from nowhere").getResultList()));
        }

        assertThat(output).contains("HHH000247").contains("NOWHERE").containsOnlyOnce("Database JDBC URL");
    }

    /** Without its version, which Hibernate writes once in each JVM. */
    private static List<String> messagesOfHibernate(CapturedOutput output) {
        return output.getAll()
                .lines()
                .filter(line -> line.contains("HHH") || line.contains("Database JDBC URL"))
                .filter(line -> !line.contains("HHH000001"))
                .toList();
    }
}
