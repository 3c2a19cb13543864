package io.dbsemaphore.samples.reactive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Flux;

/** The application as {@code main} starts it, on a web server, with H2 by R2DBC for itself and by JDBC for the semaphores. */
@ExtendWith(OutputCaptureExtension.class)
class ReactiveApplicationIntegrationTests {

    private static final String POOL =
            "--semaphore.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";

    @Test
    void exportsOneInvoiceAtATime() {
        try (ConfigurableApplicationContext host = start(ReactiveApplication.class, POOL)) {
            InvoiceRepository invoices = host.getBean(InvoiceRepository.class);
            long id = saved(invoices);
            WebClient http = WebClient.create(
                    "http://localhost:" + host.getEnvironment().getRequiredProperty("local.server.port"));

            List<Invoice> exported = Flux.range(0, 10)
                    .flatMap(i -> http.post()
                            .uri("/invoices/{id}/exports", id)
                            .retrieve()
                            .bodyToMono(Invoice.class))
                    .collectList()
                    .block(Duration.ofSeconds(60));

            // Each reads what the one before has written: two at once would write the same number
            assertThat(exported).extracting(Invoice::exports).containsExactlyInAnyOrder(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
            assertThat(invoices.findById(id).map(Invoice::exports).block()).isEqualTo(10);
            assertThat(host.getBean(SemaphoreAdmin.class)
                            .find("export")
                            .orElseThrow()
                            .held())
                    .isZero();
        }
    }

    @Test
    void refusesWhereThePermitIsHeld() {
        try (ConfigurableApplicationContext host = start(ReactiveApplication.class, POOL);
                PermitGrant grant = host.getBean(SemaphoreTemplate.class).acquire(AcquireRequest.of("export"))) {
            AtomicInteger ran = new AtomicInteger();

            assertThat(grant.isHeld()).isTrue();
            assertThatThrownBy(() -> host.getBean(SemaphoreTemplate.class)
                            .executeWithoutResult(AcquireRequest.of("export"), second -> ran.incrementAndGet()))
                    .isInstanceOf(PermitsUnavailableException.class);
            assertThat(ran).hasValue(0);
        }
    }

    @Test
    void hasNoMoreBeansThanWithoutTheSemaphores() {
        try (ConfigurableApplicationContext host = start(ReactiveApplication.class, POOL)) {
            assertThat(host.getBeanNamesForType(DataSource.class)).isEmpty();
            assertThat(host.getBeanNamesForType(PlatformTransactionManager.class))
                    .isEmpty();
            assertThat(host.getBeanNamesForType(ReactiveTransactionManager.class))
                    .hasSize(1);
        }
    }

    @Test
    void doesNotStartWithoutADatabaseForTheSemaphores(CapturedOutput output) {
        assertThatThrownBy(() -> start(ReactiveApplication.class)).hasStackTraceContaining("@WithPermits");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("The bean 'exports' (" + Exports.class.getName() + ") has @WithPermits methods")
                .contains("Spring Boot configures no DataSource beside the ConnectionFactory of R2DBC.")
                .contains("semaphore.datasource.url=jdbc:")
                .contains("semaphore.enabled=false");
    }

    /** What an application would try first. Spring Boot ignores it. */
    @Test
    void doesNotStartWithAJdbcUrlOfSpringBootEither(CapturedOutput output) {
        assertThatThrownBy(() -> start(ReactiveApplication.class, "--spring.datasource.url=jdbc:h2:mem:ignored"))
                .hasStackTraceContaining("@WithPermits");

        assertThat(output).contains("semaphore.datasource.url=jdbc:");
    }

    @Test
    void tellsTheSameToABeanThatInjectsTheTemplate(CapturedOutput output) {
        assertThatThrownBy(() -> start(Injects.class)).isNotNull();

        assertThat(output)
                .contains("There is no SemaphoreTemplate to inject. The semaphores have no database")
                .contains("beside the ConnectionFactory of R2DBC.")
                .contains("semaphore.datasource.url=jdbc:");
    }

    @Test
    void runsWithoutLimitsWhereTheSemaphoresAreDisabled(CapturedOutput output) {
        try (ConfigurableApplicationContext host = start(ReactiveApplication.class, "--semaphore.enabled=false")) {
            long id = saved(host.getBean(InvoiceRepository.class));

            assertThat(host.getBean(Exports.class).export(id).block()).isNotNull();
            assertThat(output).contains("no limit is enforced in this application, since semaphore.enabled=false");
        }
    }

    /** Not with the application.yaml of the sample, which has the pool, and on databases of its own. */
    private static ConfigurableApplicationContext start(Class<?> application, String... more) {
        return new SpringApplicationBuilder(application)
                .properties(
                        "spring.config.name=none",
                        "server.port=0",
                        "spring.main.banner-mode=off",
                        "spring.sql.init.mode=always",
                        "spring.r2dbc.url=r2dbc:h2:mem:///" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1",
                        "semaphore.semaphores.export.capacity=1")
                .run(more);
    }

    private static long saved(InvoiceRepository invoices) {
        Invoice saved = invoices.save(new Invoice(null, "Ada", 0)).block();
        assertThat(saved).isNotNull();
        Long id = saved.id();
        assertThat(id).isNotNull();
        return id;
    }

    @EnableAutoConfiguration
    @Configuration(proxyBeanMethods = false)
    static class Injects {

        @Bean
        Object user(SemaphoreTemplate template) {
            return template;
        }
    }
}
