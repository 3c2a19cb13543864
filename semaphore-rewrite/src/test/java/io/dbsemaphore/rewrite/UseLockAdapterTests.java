package io.dbsemaphore.rewrite;

import static org.openrewrite.java.Assertions.java;
import static org.openrewrite.java.Assertions.srcMainJava;
import static org.openrewrite.kotlin.Assertions.kotlin;
import static org.openrewrite.kotlin.Assertions.srcMainKotlin;

import org.junit.jupiter.api.Test;
import org.openrewrite.DocumentExample;
import org.openrewrite.Recipe;

/**
 * The code is like what https://docs.spring.io/spring-integration/reference/jdbc/lock-registry.html and
 * https://docs.spring.io/spring-integration/reference/distributed-locks.html describe.
 */
class UseLockAdapterTests implements RecipeTest {

    @Override
    public Recipe recipe() {
        return new UseLockAdapter("org.springframework.integration.jdbc.lock", "semaphore.adapters.spring-integration");
    }

    @Test
    @DocumentExample
    void theAdapterReplacesTheBeans() {
        rewriteRun(srcMainJava(java("""
            import javax.sql.DataSource;
            import org.springframework.context.annotation.Bean;
            import org.springframework.context.annotation.Configuration;
            import org.springframework.integration.jdbc.lock.DefaultLockRepository;
            import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
            import org.springframework.integration.jdbc.lock.LockRepository;
            import org.springframework.integration.support.locks.LockRegistry;

            @Configuration
            class Locks {

                @Bean
                public LockRepository lockRepository(DataSource dataSource) {
                    return new DefaultLockRepository(dataSource);
                }

                @Bean
                public LockRegistry<?> lockRegistry(LockRepository repository) {
                    return new JdbcLockRegistry(repository);
                }

                @Bean
                public String other() {
                    return "other";
                }
            }
            """, compiling("""
                import org.springframework.context.annotation.Bean;
                import org.springframework.context.annotation.Configuration;

                @Configuration
                class Locks {

                    @Bean
                    public String other() {
                        return "other";
                    }
                }
                """)), java("""
                                        import org.springframework.integration.support.locks.LockRegistry;

                                        class Exclusive {

                                            void call(LockRegistry<?> registry, Runnable work) throws InterruptedException {
                                                registry.executeLocked("someLockKey", () -> work.run());
                                            }
                                        }
                                        """)), newSettings("""
                                                semaphore:
                                                  adapters:
                                                    spring-integration:
                                                      enabled: true
                                                """));
    }

    @Test
    void nothingIsReplacedWhereAPropertyOfABeanIsSet() {
        rewriteRun(srcMainJava(java("""
            import javax.sql.DataSource;
            import org.springframework.context.annotation.Bean;
            import org.springframework.integration.jdbc.lock.DefaultLockRepository;
            import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
            import org.springframework.integration.jdbc.lock.LockRepository;

            class Locks {

                @Bean
                public DefaultLockRepository lockRepository(DataSource dataSource) {
                    DefaultLockRepository repository = new DefaultLockRepository(dataSource);
                    repository.setRegion("orders");
                    return repository;
                }

                @Bean
                public JdbcLockRegistry lockRegistry(LockRepository repository) {
                    return new JdbcLockRegistry(repository);
                }
            }
            """, """
            import javax.sql.DataSource;
            import org.springframework.context.annotation.Bean;
            import org.springframework.integration.jdbc.lock.DefaultLockRepository;
            import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
            import org.springframework.integration.jdbc.lock.LockRepository;

            class Locks {

                // TODO DB Semaphore: do without DefaultLockRepository, and set what it sets by the properties of semaphore.adapters.spring-integration; then run the recipe again
                @Bean
                public DefaultLockRepository lockRepository(DataSource dataSource) {
                    DefaultLockRepository repository = new DefaultLockRepository(dataSource);
                    repository.setRegion("orders");
                    return repository;
                }

                @Bean
                public JdbcLockRegistry lockRegistry(LockRepository repository) {
                    return new JdbcLockRegistry(repository);
                }
            }
            """)));
    }

    @Test
    void aBeanWhoseMethodIsCalledStays() {
        String source = """
            import javax.sql.DataSource;
            import org.springframework.context.annotation.Bean;
            import org.springframework.integration.jdbc.lock.DefaultLockRepository;
            import org.springframework.integration.jdbc.lock.JdbcLockRegistry;

            class Locks {

                @Bean
                DefaultLockRepository lockRepository(DataSource dataSource) {
                    return new DefaultLockRepository(dataSource);
                }

                @Bean
                JdbcLockRegistry lockRegistry(DataSource dataSource) {
                    return new JdbcLockRegistry(lockRepository(dataSource));
                }

                @Bean
                Object user(DataSource dataSource) {
                    return lockRegistry(dataSource);
                }
            }
            """;

        rewriteRun(srcMainJava(java(
                source,
                source.replace(
                        "    @Bean\n    JdbcLockRegistry",
                        "    // TODO DB Semaphore: this method is called; inject the bean there, and run the recipe again\n"
                                + "    @Bean\n    JdbcLockRegistry"))));
    }

    @Test
    void aRegistryWithATimeToLiveStays() {
        String source = """
            import java.time.Duration;
            import org.springframework.context.annotation.Bean;
            import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
            import org.springframework.integration.jdbc.lock.LockRepository;

            class Locks {

                @Bean
                JdbcLockRegistry lockRegistry(LockRepository repository) {
                    return new JdbcLockRegistry(repository, Duration.ofSeconds(30));
                }
            }
            """;

        rewriteRun(srcMainJava(java(
                source,
                source.replace(
                        "    @Bean\n",
                        "    // TODO DB Semaphore: set semaphore.adapters.spring-integration.ttl to this duration, and remove"
                                + " it here; then run the recipe again\n    @Bean\n"))));
    }

    @Test
    void aRegistryThatKotlinUsesStays() {
        String source = """
            import org.springframework.context.annotation.Bean;
            import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
            import org.springframework.integration.jdbc.lock.LockRepository;

            class Locks {

                @Bean
                JdbcLockRegistry lockRegistry(LockRepository repository) {
                    return new JdbcLockRegistry(repository);
                }
            }
            """;

        rewriteRun(
                srcMainJava(java(
                        source,
                        source.replace(
                                "    @Bean\n",
                                "    // TODO DB Semaphore: remove this bean, and set semaphore.adapters.spring-integration.enabled=true\n"
                                        + "    @Bean\n"))),
                srcMainKotlin(kotlin("""
                    import org.springframework.integration.jdbc.lock.JdbcLockRegistry

                    class User(private val registry: JdbcLockRegistry)
                    """)));
    }

    @Test
    void theAdapterReplacesTheProviderOfShedLock() {
        rewriteRun(
                spec -> spec.recipe(
                        new UseLockAdapter("net.javacrumbs.shedlock.provider", "semaphore.adapters.shedlock")),
                srcMainJava(java("""
                    import javax.sql.DataSource;
                    import net.javacrumbs.shedlock.core.LockProvider;
                    import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
                    import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
                    import org.springframework.context.annotation.Bean;

                    @EnableSchedulerLock(defaultLockAtMostFor = "10m")
                    class Locks {

                        @Bean
                        public LockProvider lockProvider(DataSource dataSource) {
                            return new JdbcTemplateLockProvider(dataSource);
                        }
                    }
                    """, compiling("""
                        import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;

                        @EnableSchedulerLock(defaultLockAtMostFor = "10m")
                        class Locks {
                        }
                        """))),
                newSettings("""
                    semaphore:
                      adapters:
                        shedlock:
                          enabled: true
                    """));
    }

    @Test
    void aProviderThatKeepsLocksAliveStays() {
        rewriteRun(
                spec -> spec.recipe(
                        new UseLockAdapter("net.javacrumbs.shedlock.provider", "semaphore.adapters.shedlock")),
                srcMainJava(java("""
                    import java.util.concurrent.Executors;
                    import javax.sql.DataSource;
                    import net.javacrumbs.shedlock.core.LockProvider;
                    import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
                    import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
                    import org.springframework.context.annotation.Bean;

                    class Locks {

                        @Bean
                        public LockProvider lockProvider(DataSource dataSource) {
                            return new KeepAliveLockProvider(
                                    new JdbcTemplateLockProvider(dataSource), Executors.newSingleThreadScheduledExecutor());
                        }
                    }
                    """, """
                    import java.util.concurrent.Executors;
                    import javax.sql.DataSource;
                    import net.javacrumbs.shedlock.core.LockProvider;
                    import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
                    import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
                    import org.springframework.context.annotation.Bean;

                    class Locks {

                        // TODO DB Semaphore: do without JdbcTemplateLockProvider, and set what it sets by the properties of semaphore.adapters.shedlock; then run the recipe again
                        @Bean
                        public LockProvider lockProvider(DataSource dataSource) {
                            return new KeepAliveLockProvider(
                                    new JdbcTemplateLockProvider(dataSource), Executors.newSingleThreadScheduledExecutor());
                        }
                    }
                    """)));
    }
}
