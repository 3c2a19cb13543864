package io.dbsemaphore.samples.migration;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.samples.migration.after.CustomerFiles;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.integration.dsl.IntegrationFlow;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.jdbc.core.JdbcTemplate;

/** A whole application with an aggregator of Spring Integration and a task of ShedLock, which run as before. */
class AdaptersIntegrationTests {

    private static final List<String> seen = new ArrayList<>();

    @Test
    void locksAreRowsOfTheirTablesBefore() throws InterruptedException {
        run(AdaptersIntegrationTests::rows, JdbcLocks.class, "--semaphore.enabled=false");

        assertThat(seen).containsExactly("1 of int_lock", "1 of int_lock", "1 of shedlock", "1 of int_lock");
    }

    @Test
    void locksAreSemaphoresWhereAPropertyReplacesThoseBeans() throws InterruptedException {
        run(AdaptersIntegrationTests::held, Application.class, "--semaphore.adapters.shedlock.enabled=true");

        assertThat(seen).hasSize(4).allMatch(name -> name.endsWith(" by me"));
        assertThat(seen.get(0)).startsWith("integration:").isEqualTo(seen.get(1));
        assertThat(seen.get(2)).isEqualTo("shedlock:nightly by me");
        assertThat(seen.get(3)).isEqualTo("integration:customer:42 by me");
    }

    /** Two orders, a night and a file; what is locked during each of the four is seen. */
    private static void run(Function<ApplicationContext, List<String>> locked, Class<?> source, String... properties)
            throws InterruptedException {
        seen.clear();
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class, source)
                .properties("spring.main.banner-mode=off", "semaphore.owner=me", "logging.level.root=warn")
                .initializers(each -> each.getBeanFactory()
                        .registerSingleton("look", (Runnable) () -> seen.addAll(locked.apply(each))))
                .run(properties)) {
            context.getBean(Orders.class).send("first");
            context.getBean(Orders.class).send("second");
            context.getBean(Nightly.class).run();
            context.getBean(CustomerFiles.class).write("42", context.getBean("look", Runnable.class));

            assertThat(locked.apply(context)).isEmpty();
        }
    }

    private static List<String> rows(ApplicationContext context) {
        JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
        List<String> rows = new ArrayList<>();
        for (String lock :
                new String[] {"int_lock", "shedlock where lock_until > dateadd(minute, 1, localtimestamp)"}) {
            Integer count = jdbc.queryForObject("select count(*) from " + lock, Integer.class);
            if (count != null && count > 0) {
                rows.add(count + " of " + lock.split(" ")[0]);
            }
        }
        return rows;
    }

    private static List<String> held(ApplicationContext context) {
        SemaphoreAdmin admin = context.getBean(SemaphoreAdmin.class);
        return admin.list().stream()
                .map(SemaphoreStatus::name)
                .flatMap(name -> admin.holders(name).stream().map(holder -> name + " by " + holder.owner()))
                .toList();
    }

    interface Orders {

        void send(String order);
    }

    static class Nightly {

        private final Runnable look;

        Nightly(Runnable look) {
            this.look = look;
        }

        @SchedulerLock(name = "nightly")
        public void run() {
            look.run();
        }
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration
    @EnableSchedulerLock(defaultLockAtMostFor = "10m")
    static class Application {

        @Bean
        IntegrationFlow orders(LockRegistry<?> locks, Runnable look) {
            return IntegrationFlow.from(Orders.class)
                    .aggregate(aggregator -> aggregator
                            .lockRegistry(locks)
                            .correlationExpression("'all'")
                            .releaseStrategy(group -> {
                                look.run();
                                return group.size() == 2;
                            }))
                    .nullChannel();
        }

        @Bean
        CustomerFiles files(LockRegistry<?> locks) {
            return new CustomerFiles(locks);
        }

        @Bean
        Nightly nightly(Runnable look) {
            return new Nightly(look);
        }
    }
}
