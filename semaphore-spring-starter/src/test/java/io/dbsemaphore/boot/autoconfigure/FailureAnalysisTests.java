package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** What somebody reads whose application does not start. */
@ExtendWith(OutputCaptureExtension.class)
class FailureAnalysisTests {

    @Test
    void showsTheLineToAddWhereTablesAreMissing(CapturedOutput output) {
        fails(Host.class);

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("The tables of the semaphores are not all in the database: semaphore, permit_request, permit"
                        + ", semaphore_instance and capacity_change.")
                .contains("<include file=\"db/dbsemaphore/changelog.xml\"/>")
                .containsPattern("- include:\\R +file: db/dbsemaphore/changelog.xml")
                .contains("semaphore.liquibase.enabled=true")
                .contains("semaphore.enabled=false")
                .doesNotContain("spring.liquibase.parameters");
    }

    @Test
    void showsTheParameterToSetWherePrefixedTablesAreMissing(CapturedOutput output) {
        fails(Host.class, "semaphore.table-prefix=app_");

        assertThat(output)
                .contains(
                        "app_semaphore, app_permit_request, app_permit, app_semaphore_instance and app_capacity_change.")
                .contains("spring.liquibase.parameters.[dbsemaphore.tablePrefix]=app_");
    }

    @Test
    void showsTheCandidatesWhereThereAreSeveralDataSources(CapturedOutput output) {
        fails(SeveralDataSources.class);

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("none of these is the only candidate or primary: billing, orders.")
                .contains("Set semaphore.datasource to the name of one of them, or make one of them @Primary.")
                .doesNotContain("NoUniqueBeanDefinitionException");
    }

    @Test
    void showsThePropertyThatDoesNotFit(CapturedOutput output) {
        fails(Host.class, "semaphore.semaphores.backup.capacity=-1");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("semaphore.semaphores.backup.capacity must be at least 0: -1");
    }

    @Test
    void showsThatTheOrderIsNoNumber(CapturedOutput output) {
        fails(Host.class, "semaphore.aop.order=first");

        assertThat(output).contains("APPLICATION FAILED TO START").contains("semaphore.aop.order");
    }

    private static void fails(Class<?> host, String... properties) {
        List<String> all = new ArrayList<>(List.of(properties));
        all.add("spring.main.banner-mode=off");
        assertThatExceptionOfType(BeanCreationException.class)
                .isThrownBy(() -> new SpringApplicationBuilder(host)
                        .web(WebApplicationType.NONE)
                        .properties(all.toArray(String[]::new))
                        .run());
    }

    @ImportAutoConfiguration({DataSourceAutoConfiguration.class, SemaphoreAutoConfiguration.class})
    static class Host {}

    @ImportAutoConfiguration(SemaphoreAutoConfiguration.class)
    static class SeveralDataSources {

        @Bean
        DataSource orders() {
            return new DriverManagerDataSource("jdbc:h2:mem:several-orders");
        }

        @Bean
        DataSource billing() {
            return new DriverManagerDataSource("jdbc:h2:mem:several-billing");
        }
    }
}
