package io.dbsemaphore.rewrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.openrewrite.java.Assertions.java;
import static org.openrewrite.java.Assertions.srcMainJava;
import static org.openrewrite.kotlin.Assertions.kotlin;
import static org.openrewrite.kotlin.Assertions.srcMainKotlin;
import static org.openrewrite.properties.Assertions.properties;
import static org.openrewrite.yaml.Assertions.yaml;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openrewrite.DocumentExample;
import org.openrewrite.Recipe;

/** The code is like the samples of https://github.com/lukas-krecan/ShedLock#usage. */
class ReplaceSchedulerLockTests implements RecipeTest {

    @Override
    public Recipe recipe() {
        return new ReplaceSchedulerLock();
    }

    @Test
    @DocumentExample
    void locksAreSemaphoresAndShedLockIsGone() {
        rewriteRun(
                srcMainJava(java("""
                    import javax.sql.DataSource;
                    import net.javacrumbs.shedlock.core.LockProvider;
                    import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
                    import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
                    import org.springframework.context.annotation.Bean;
                    import org.springframework.context.annotation.Configuration;
                    import org.springframework.jdbc.core.JdbcTemplate;
                    import org.springframework.scheduling.annotation.EnableScheduling;

                    @Configuration
                    @EnableScheduling
                    @EnableSchedulerLock(defaultLockAtMostFor = "10m")
                    class MySpringConfiguration {

                        @Bean
                        public LockProvider lockProvider(DataSource dataSource) {
                            return new JdbcTemplateLockProvider(
                                    JdbcTemplateLockProvider.Configuration.builder()
                                            .withJdbcTemplate(new JdbcTemplate(dataSource))
                                            .usingDbTime()
                                            .build());
                        }
                    }
                    """, """
                    import org.springframework.context.annotation.Configuration;
                    import org.springframework.scheduling.annotation.EnableScheduling;

                    @Configuration
                    @EnableScheduling
                    class MySpringConfiguration {
                    }
                    """), java("""
                        import net.javacrumbs.shedlock.core.LockAssert;
                        import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
                        import org.springframework.scheduling.annotation.Scheduled;

                        class Tasks {

                            @Scheduled(cron = "0 */15 * * * *")
                            @SchedulerLock(name = "scheduledTaskName")
                            public void scheduledTask() {
                                LockAssert.assertLocked();
                                System.out.println("work");
                            }
                        }
                        """, """
                        import io.dbsemaphore.Permits;
                        import io.dbsemaphore.annotation.OnUnavailable;
                        import io.dbsemaphore.annotation.WithPermits;
                        import org.springframework.scheduling.annotation.Scheduled;

                        class Tasks {

                            @Scheduled(cron = "0 */15 * * * *")
                            @WithPermits(names = "scheduledTaskName", ttl = "10m", keepAlive = false, releaseAtShutdown = false, onUnavailable = OnUnavailable.SKIP)
                            public void scheduledTask() {
                                Permits.assertHeld("scheduledTaskName");
                                System.out.println("work");
                            }
                        }
                        """)),
                yaml("""
                    spring:
                      application:
                        name: tasks
                    """, """
                    spring:
                      application:
                        name: tasks
                    semaphore:
                      semaphores:
                        scheduledTaskName:
                          capacity: 1
                    """, spec -> spec.path("src/main/resources/application.yml")));
    }

    @Test
    void locksAreExtendedAndNamedByArguments() {
        rewriteRun(
                srcMainJava(java("""
                    import static java.time.Duration.ZERO;

                    import java.time.Duration;
                    import net.javacrumbs.shedlock.core.LockAssert;
                    import net.javacrumbs.shedlock.core.LockExtender;
                    import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

                    class Tasks {

                        @SchedulerLock(name = "task-#{#tenant}", lockAtMostFor = "60000")
                        public void task(String tenant) {
                            LockAssert.assertLocked();
                            LockExtender.extendActiveLock(Duration.ofMinutes(5), ZERO);
                        }
                    }
                    """, compiling("""
                        import java.time.Duration;

                        import io.dbsemaphore.Permits;
                        import io.dbsemaphore.annotation.OnUnavailable;
                        import io.dbsemaphore.annotation.WithPermits;

                        class Tasks {

                            @WithPermits(names = "task-#{#tenant}", ttl = "60000ms", keepAlive = false, releaseAtShutdown = false, onUnavailable = OnUnavailable.SKIP)
                            public void task(String tenant) {
                                Permits.current();
                                Permits.current().renew(Duration.ofMinutes(5));
                            }
                        }
                        """))),
                properties(
                        "spring.application.name=tasks",
                        """
                        spring.application.name=tasks
                        semaphore.patterns.[task-*].capacity=1
                        """.strip(),
                        spec -> spec.path("src/main/resources/application.properties")));
    }

    /** The lock of a task that is extended all the time ends with the task, not at its first lockAtMostFor. */
    @Test
    void whatShedLockKeepsAliveIsKeptAlive() {
        rewriteRun(
                spec -> spec.expectedCyclesThatMakeChanges(1),
                srcMainJava(java("""
                    import java.util.concurrent.Executors;
                    import javax.sql.DataSource;
                    import net.javacrumbs.shedlock.core.LockProvider;
                    import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
                    import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
                    import org.springframework.context.annotation.Bean;

                    class Locks {

                        @Bean
                        LockProvider lockProvider(DataSource dataSource) {
                            return new KeepAliveLockProvider(
                                    new JdbcTemplateLockProvider(dataSource), Executors.newSingleThreadScheduledExecutor());
                        }
                    }
                    """, """
                    class Locks {
                    }
                    """), java("""
                        import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

                        class Tasks {

                            @SchedulerLock(name = "task", lockAtMostFor = "30s")
                            public void task() {}
                        }
                        """, compiling("""
                                        import io.dbsemaphore.annotation.OnUnavailable;
                                        import io.dbsemaphore.annotation.WithPermits;

                                        class Tasks {

                                            @WithPermits(names = "task", ttl = "30s", releaseAtShutdown = false, onUnavailable = OnUnavailable.SKIP)
                                            public void task() {}
                                        }
                                        """))),
                newSettings("""
                    semaphore:
                      semaphores:
                        task:
                          capacity: 1
                    """));
    }

    @Test
    void onlyTheFirstDocumentGetsSettingsAndKeepsThoseThatItHas() {
        rewriteRun(
                srcMainJava(java("""
                    import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

                    class Tasks {

                        @SchedulerLock(name = "task", lockAtMostFor = "1h")
                        public void task() {}

                        @SchedulerLock(name = "other", lockAtMostFor = "1h")
                        public void other() {}
                    }
                    """, spec -> spec.after(actual -> actual))),
                yaml("""
                    semaphore:
                      semaphores:
                        other:
                          capacity: 0
                    ---
                    spring:
                      config:
                        activate:
                          on-profile: test
                    """, """
                    semaphore:
                      semaphores:
                        other:
                          capacity: 0
                        task:
                          capacity: 1
                    ---
                    spring:
                      config:
                        activate:
                          on-profile: test
                    """, spec -> spec.path("src/main/resources/application.yaml")));
    }

    @Test
    void theCodeTellsWhatToConfigureWhereThereAreSeveralApplications() {
        rewriteRun(
                srcMainJava(java("""
                    import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

                    class Tasks {

                        @SchedulerLock(name = "task", lockAtMostFor = "1h")
                        public void task() {}
                    }
                    """, compiling("""
                        import io.dbsemaphore.annotation.OnUnavailable;
                        import io.dbsemaphore.annotation.WithPermits;

                        class Tasks {

                            // TODO DB Semaphore: configure semaphore.semaphores.task.capacity=1
                            @WithPermits(names = "task", ttl = "1h", keepAlive = false, releaseAtShutdown = false, onUnavailable = OnUnavailable.SKIP)
                            public void task() {}
                        }
                        """))),
                yaml("a: 1", spec -> spec.path("one/src/main/resources/application.yaml")),
                yaml("b: 1", spec -> spec.path("two/src/main/resources/application.yml")));
    }

    /** Its provider stays, and its asserts outside of tasks are told. */
    @Test
    void shedLockStaysWhereSomethingElseUsesIt() {
        rewriteRun(srcMainJava(java("""
            import javax.sql.DataSource;
            import net.javacrumbs.shedlock.core.LockAssert;
            import net.javacrumbs.shedlock.core.LockProvider;
            import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
            import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
            import org.springframework.context.annotation.Bean;

            @EnableSchedulerLock(defaultLockAtMostFor = "10m")
            class Locks {

                @Bean
                LockProvider lockProvider(DataSource dataSource) {
                    return new JdbcTemplateLockProvider(dataSource);
                }

                void use(LockProvider provider) {
                    LockAssert.assertLocked();
                }
            }
            """, compiling("""
                import javax.sql.DataSource;
                import net.javacrumbs.shedlock.core.LockAssert;
                import net.javacrumbs.shedlock.core.LockProvider;
                import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
                import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
                import org.springframework.context.annotation.Bean;

                @EnableSchedulerLock(defaultLockAtMostFor = "10m")
                class Locks {

                    @Bean
                    LockProvider lockProvider(DataSource dataSource) {
                        return new JdbcTemplateLockProvider(dataSource);
                    }

                    void use(LockProvider provider) {
                        // TODO DB Semaphore: the lock of a caller that is @WithPermits is asserted by Permits.assertHeld
                        LockAssert.assertLocked();
                    }
                }
                """))));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "name = \"task\", lockAtMostFor = \"14m\", lockAtLeastFor = \"14m\"",
                "name = \"task\"",
                "name = \"task\", lockAtMostFor = \"#{@minutes}m\"",
                "name = \"#{@name}\", lockAtMostFor = \"14m\"",
                "name = Tasks.NAME, lockAtMostFor = \"14m\""
            })
    void whatHasNoCounterpartStays(String attributes) {
        String source = """
            import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

            class Tasks {

                static final String NAME = "task";

                @SchedulerLock(%s)
                public void task() {}
            }
            """;

        rewriteRun(srcMainJava(java(
                source.formatted(attributes),
                spec -> spec.after(actual -> {
                    String told = actual.replaceFirst(
                            " {4}// TODO DB Semaphore: .*; keep @SchedulerLock, and let the recipe .*\\n", "");
                    assertThat(told)
                            .isNotEqualTo(actual)
                            .isEqualTo(source.formatted(attributes).strip());
                    return actual;
                }))));
    }

    @Test
    void aLockThatLastsLongerThanTheTaskStaysOneOfShedLock() {
        rewriteRun(srcMainJava(java("""
            import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

            class Tasks {

                @SchedulerLock(name = "scheduledTaskName", lockAtMostFor = "14m", lockAtLeastFor = "14m")
                public void scheduledTask() {}
            }
            """, compiling("""
                import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

                class Tasks {

                    // TODO DB Semaphore: @WithPermits has no lockAtLeastFor; keep @SchedulerLock, and let the recipe io.dbsemaphore.rewrite.AdaptShedLock make semaphores of its locks
                    @SchedulerLock(name = "scheduledTaskName", lockAtMostFor = "14m", lockAtLeastFor = "14m")
                    public void scheduledTask() {}
                }
                """))));
    }

    /** Two of them could run at the same time, if one had a semaphore, and the other one a lock of ShedLock. */
    @Test
    void tasksWithTheSameLockAreMigratedTogetherOrNotAtAll() {
        rewriteRun(srcMainJava(java("""
            import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

            class Tasks {

                @SchedulerLock(name = "task", lockAtMostFor = "14m")
                public void task() {}

                @SchedulerLock(name = "task", lockAtMostFor = "14m", lockAtLeastFor = "14m")
                public void longTask() {}
            }
            """, """
            import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

            class Tasks {

                // TODO DB Semaphore: another task with this lock stays one of ShedLock; keep @SchedulerLock, and let the recipe io.dbsemaphore.rewrite.AdaptShedLock make semaphores of its locks
                @SchedulerLock(name = "task", lockAtMostFor = "14m")
                public void task() {}

                // TODO DB Semaphore: @WithPermits has no lockAtLeastFor; keep @SchedulerLock, and let the recipe io.dbsemaphore.rewrite.AdaptShedLock make semaphores of its locks
                @SchedulerLock(name = "task", lockAtMostFor = "14m", lockAtLeastFor = "14m")
                public void longTask() {}
            }
            """)));
    }

    /** An annotation of the application is no lock of ShedLock, and no {@code @WithPermits}. */
    @Test
    void namesOfTheApplicationMeanWhatTheyMeant() {
        rewriteRun(srcMainJava(
                java("package own; public @interface SchedulerLock {}"),
                java("package own; public @interface WithPermits {}"),
                java("""
                            package own;

                            class Other {

                                @SchedulerLock
                                public void task() {}
                            }
                            """),
                java("""
                            package own;

                            class Tasks {

                                @WithPermits
                                @net.javacrumbs.shedlock.spring.annotation.SchedulerLock(name = "task", lockAtMostFor = "1h")
                                public void task() {}
                            }
                            """, """
                            package own;

                            class Tasks {

                                // TODO DB Semaphore: the name WithPermits is taken; rename it, and run the recipe again; keep @SchedulerLock, and let the recipe io.dbsemaphore.rewrite.AdaptShedLock make semaphores of its locks
                                @WithPermits
                                @net.javacrumbs.shedlock.spring.annotation.SchedulerLock(name = "task", lockAtMostFor = "1h")
                                public void task() {}
                            }
                            """),
                java("""
                            package own;

                            class Permits {

                                @net.javacrumbs.shedlock.spring.annotation.SchedulerLock(name = "other", lockAtMostFor = "1h")
                                public void task() {}
                            }
                            """, """
                            package own;

                            class Permits {

                                // TODO DB Semaphore: the name Permits is taken; rename it, and run the recipe again; keep @SchedulerLock, and let the recipe io.dbsemaphore.rewrite.AdaptShedLock make semaphores of its locks
                                @net.javacrumbs.shedlock.spring.annotation.SchedulerLock(name = "other", lockAtMostFor = "1h")
                                public void task() {}
                            }
                            """)));
    }

    @Test
    void shedLockStaysWhereKotlinUsesIt() {
        rewriteRun(srcMainJava(java("""
                    import javax.sql.DataSource;
                    import net.javacrumbs.shedlock.core.LockProvider;
                    import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
                    import org.springframework.context.annotation.Bean;

                    class Locks {

                        @Bean
                        LockProvider lockProvider(DataSource dataSource) {
                            return new JdbcTemplateLockProvider(dataSource);
                        }
                    }
                    """)), srcMainKotlin(kotlin("""
                    import net.javacrumbs.shedlock.spring.annotation.SchedulerLock

                    class Tasks {

                        @SchedulerLock(name = "task", lockAtMostFor = "1h")
                        fun task() {}
                    }
                    """)));
    }

    @Test
    void theSettingsAreThoseOfTheOneModuleThatHasSome() {
        String task = """
            import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

            class Tasks {

                @SchedulerLock(name = "task", lockAtMostFor = "1h")
                public void task() {}
            }
            """;

        rewriteRun(
                java(
                        task,
                        spec -> spec.path("library/src/main/java/Tasks.java").after(actual -> {
                            assertThat(actual).contains("@WithPermits(").doesNotContain("TODO");
                            return actual;
                        })),
                java("class Application {}", spec -> spec.path("application/src/main/java/Application.java")),
                yaml("""
                    a: 1
                    """, """
                    a: 1
                    semaphore:
                      semaphores:
                        task:
                          capacity: 1
                    """, spec -> spec.path("application/src/main/resources/application.yaml")));
    }

    @Test
    void theCodeTellsWhatToConfigureWhereNoneOfSeveralModulesHasSettings() {
        rewriteRun(
                java(
                        """
                    import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

                    class Tasks {

                        @SchedulerLock(name = "task", lockAtMostFor = "1h")
                        public void task() {}
                    }
                    """,
                        spec -> spec.path("library/src/main/java/Tasks.java").after(actual -> {
                            assertThat(actual)
                                    .contains(
                                            "@WithPermits(",
                                            "// TODO DB Semaphore: configure semaphore.semaphores.task.capacity=1");
                            return actual;
                        })),
                java("class Application {}", spec -> spec.path("application/src/main/java/Application.java")));
    }
}
