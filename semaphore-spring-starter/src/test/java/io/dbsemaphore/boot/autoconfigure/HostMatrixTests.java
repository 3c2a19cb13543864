package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.example.Bookkeeping;
import com.example.elsewhere.ElsewhereApplication;
import com.example.invoices.data.EntityScanApplication;
import com.example.invoices.model.JpaRepositoriesApplication;
import com.example.ledger.LedgerApplication;
import com.example.orders.OrdersApplication;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreTemplate;
import jakarta.persistence.EntityManagerFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.springframework.boot.WebApplicationType;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.authorization.AuthorizationDeniedException;
import org.springframework.security.core.context.SecurityContextHolder;

/**
 * A row of the host matrix each: applications that are wired differently, all of them with all of Spring Boot's
 * auto-configurations. Those with several data sources are in {@link HostMatrixDataSourceTests}, those without some library
 * in {@link HostMatrixClassPathTests}, and those where the database matters in {@link HostMatrixIntegrationTests}.
 */
class HostMatrixTests extends HostMatrixFixture {

    private static final String INVOICES = "spring.liquibase.change-log=classpath:com/example/invoices/changelog.xml";

    @AfterEach
    void forgetWhoIsAuthenticated() {
        SecurityContextHolder.clearContext();
    }

    @Test
    void entityScan() {
        host = Hosts.start(EntityScanApplication.class, INVOICES, ONE_PERMIT);

        AtHome.assertIn(host);
    }

    @Test
    void enableJpaRepositories() {
        host = Hosts.start(JpaRepositoriesApplication.class, INVOICES, ONE_PERMIT);

        AtHome.assertIn(host);
    }

    @Test
    void entityScanAndEnableJpaRepositories() {
        host = Hosts.start(ElsewhereApplication.class, INVOICES, ONE_PERMIT);

        AtHome.assertIn(host);
    }

    @Test
    void handWrittenEntityManagerFactory() {
        host = Hosts.orders(Wirings.HandWritten.class, ONE_PERMIT);

        AtHome.assertIn(host);
        assertThat(host.getBeansOfType(EntityManagerFactory.class)).containsOnlyKeys("handWritten");
    }

    @Test
    void neitherLiquibaseNorFlywayOfItsOwn() {
        host = Hosts.orders(WITHOUT_LIQUIBASE, TABLES_BY_HIBERNATE, OWN_TABLES, ONE_PERMIT);

        AtHome.assertIn(host);
    }

    @Test
    void tablesMadeByAScriptOfSpringBoot() {
        host = Hosts.start(
                LedgerApplication.class,
                WITHOUT_LIQUIBASE,
                "spring.sql.init.schema-locations=classpath:com/example/ledger/schema.sql,"
                        + "classpath:db/dbsemaphore/sql/h2.sql",
                ONE_PERMIT);

        AtHome.assertIn(host);
    }

    @Test
    void customNamingStrategyAndDefaultSchema() {
        host = Hosts.orders(
                WITHOUT_LIQUIBASE,
                TABLES_BY_HIBERNATE,
                "spring.jpa.hibernate.naming.physical-strategy=" + Wirings.Prefixed.class.getName(),
                "spring.jpa.properties.hibernate.default_schema=shop",
                "spring.jpa.properties.hibernate.hbm2ddl.create_namespaces=true",
                OWN_TABLES,
                ONE_PERMIT);

        AtHome.assertIn(host);
        assertThat(jdbc("dataSource").queryForList("select * from shop.t_customer_order"))
                .hasSize(2);
    }

    @Test
    void schemaOfTheConnections() {
        host = Hosts.orders(
                "spring.datasource.url=jdbc:h2:mem:matrix-schema;INIT=create schema if not exists shop",
                "spring.datasource.hikari.schema=SHOP",
                "spring.liquibase.default-schema=SHOP",
                "spring.jpa.hibernate.ddl-auto=validate",
                ONE_PERMIT);

        AtHome.assertIn(host);
        assertThat(jdbc("dataSource").queryForList("select * from shop.permit_request"))
                .isNotEmpty();
    }

    @Test
    void openInView() throws Exception {
        host = Hosts.application(
                        OrdersApplication.class,
                        Wirings.OrderController.class,
                        "spring.liquibase.change-log=classpath:com/example/orders/changelog.xml",
                        "spring.jpa.open-in-view=true",
                        "server.port=0",
                        ONE_PERMIT)
                .web(WebApplicationType.SERVLET)
                .run();

        AtHome.assertIn(host);
        assertThat(get("/orders/next")).isEqualTo("managed before: true, under a permit: true, managed after: true");
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "there are no virtual threads")
    void virtualThreads() throws Exception {
        host = Hosts.orders("spring.threads.virtual.enabled=true", ONE_PERMIT);
        AtHome.assertIn(host);
        AsyncTaskExecutor executor = host.getBean(AsyncTaskExecutor.class);
        SemaphoreTemplate semaphores = host.getBean(SemaphoreTemplate.class);
        AcquireRequest request = AcquireRequest.of("orders").withWaitTime(Duration.ofMinutes(1));

        List<Future<String>> threads = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            threads.add(executor.submit(() ->
                    semaphores.execute(request, grant -> Thread.currentThread().toString())));
        }

        for (Future<String> thread : threads) {
            assertThat(thread.get(1, TimeUnit.MINUTES)).startsWith("VirtualThread");
        }
    }

    @Test
    void aspectsSwitchedOff() {
        host = Hosts.orders("spring.aop.auto=false", ONE_PERMIT);

        AtHome.assertIn(host);
    }

    @Test
    void guardedRepository() {
        host = Hosts.orders(Wirings.GuardedRepository.class, ONE_PERMIT);
        AtHome.assertIn(host);
        Wirings.GuardedOrders orders = host.getBean(Wirings.GuardedOrders.class);

        assertThat(orders.count()).isEqualTo(2);
        try (PermitGrant grant = host.getBean(SemaphoreTemplate.class).acquire(AcquireRequest.of("orders"))) {
            assertThatExceptionOfType(PermitsUnavailableException.class).isThrownBy(orders::count);
            assertThat(orders.existsById(1L)).isEqualTo(true);
        }
    }

    @Test
    void transactionsAroundThePermits() {
        host = Hosts.orders(Wirings.TransactionsFirst.class, TransactionWitness.class, ONE_PERMIT);

        AtHome.assertIn(host);
        host.getBean(TransactionWitness.class).seen().clear();
        host.getBean(Bookkeeping.class).bookUnderPermit(4);
        assertThat(host.getBean(TransactionWitness.class).seen())
                .containsExactly("begins: 0 held, 2 orders", "committed: 0 held, 3 orders");
    }

    @Test
    void methodSecurity() {
        host = Hosts.orders(Wirings.Secured.class, ONE_PERMIT);
        AtHome.assertIn(host);
        Wirings.Vault vault = host.getBean(Wirings.Vault.class);

        SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken("Eve", "", "ROLE_GUEST"));
        assertThatExceptionOfType(AuthorizationDeniedException.class).isThrownBy(() -> vault.open(4));
        assertThat(permitsEverRequested("dataSource"))
                .as("without those of the denied")
                .isEqualTo(2);

        SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken("Ada", "", "ROLE_CLERK"));
        vault.open(4);
        assertThat(host.getBean(Bookkeeping.class).isBooked(4)).isEqualTo(true);
        try (PermitGrant grant = host.getBean(SemaphoreTemplate.class).acquire(AcquireRequest.of("orders"))) {
            assertThatExceptionOfType(PermitsUnavailableException.class).isThrownBy(() -> vault.open(5));
        }
    }

    @Test
    void lazyInitialization() {
        host = Hosts.orders("spring.main.lazy-initialization=true", ONE_PERMIT);

        assertThat(host.getBeanFactory().containsSingleton("semaphoreLifecycle"))
                .as("started with the application")
                .isEqualTo(true);
        assertThat(jdbc("dataSource").queryForList("select name from semaphore", String.class))
                .as("created with the start")
                .contains("orders");
        AtHome.assertIn(host);
    }

    private String get(String path) throws Exception {
        URI uri = URI.create("http://localhost:" + host.getEnvironment().getProperty("local.server.port") + path);
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }
}
