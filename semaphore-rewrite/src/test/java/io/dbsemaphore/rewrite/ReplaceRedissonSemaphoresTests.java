package io.dbsemaphore.rewrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.openrewrite.java.Assertions.java;
import static org.openrewrite.java.Assertions.srcMainJava;
import static org.openrewrite.kotlin.Assertions.kotlin;
import static org.openrewrite.kotlin.Assertions.srcMainKotlin;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openrewrite.DocumentExample;
import org.openrewrite.Recipe;

/** The code is like the samples of https://redisson.pro/docs/data-and-services/locks-and-synchronizers/. */
class ReplaceRedissonSemaphoresTests implements RecipeTest {

    private static final String IN_A_FIELD = """
        import org.redisson.api.RPermitExpirableSemaphore;
        import org.redisson.api.RedissonClient;

        class Work {

            private final RedissonClient redisson;
            private final RPermitExpirableSemaphore semaphore;

            Work(RedissonClient redisson) {
                this.redisson = redisson;
                semaphore = redisson.getPermitExpirableSemaphore("mySemaphore");
            }

            String acquire() {
                return semaphore.tryAcquire();
            }
        }
        """;
    private static final String USED_ELSEWHERE = IN_A_FIELD.replace(
            "class Work",
            "// TODO DB Semaphore: other code has these semaphores, too, or passes the RedissonClient to this type; migrate"
                    + " that by hand, or change it and run the recipe again\nclass Work");

    @Override
    public Recipe recipe() {
        return new ReplaceRedissonSemaphores();
    }

    @Test
    @DocumentExample
    void permitsAreReleasedByTheirGrant() {
        rewriteRun(srcMainJava(java("""
            import java.util.concurrent.TimeUnit;
            import org.redisson.api.RSemaphore;
            import org.redisson.api.RedissonClient;

            class Work {

                private final RedissonClient redisson;

                Work(RedissonClient redisson) {
                    this.redisson = redisson;
                    redisson.getSemaphore("mySemaphore").trySetPermits(10);
                }

                void waitForTen() throws InterruptedException {
                    RSemaphore semaphore = redisson.getSemaphore("mySemaphore");
                    boolean res = semaphore.tryAcquire(10, 15, TimeUnit.SECONDS);
                    if (res) {
                        try {
                            System.out.println("work");
                        } finally {
                            semaphore.release(10);
                        }
                    }
                }

                void waitWithoutEnd() throws InterruptedException {
                    RSemaphore semaphore = redisson.getSemaphore("mySemaphore");
                    semaphore.acquire();
                    try {
                        System.out.println("work");
                    } finally {
                        semaphore.release();
                    }
                }

                void doNotWait() {
                    RSemaphore semaphore = redisson.getSemaphore("mySemaphore");
                    if (!semaphore.tryAcquire()) {
                        return;
                    }
                    try {
                        System.out.println("work");
                    } finally {
                        semaphore.release();
                    }
                }
            }
            """, compiling("""
                import java.time.Duration;
                import java.util.Optional;

                import io.dbsemaphore.AcquireRequest;
                import io.dbsemaphore.PermitGrant;
                import io.dbsemaphore.SemaphoreOperations;

                class Work {

                    private final SemaphoreOperations semaphores;

                    Work(SemaphoreOperations semaphores) {
                        this.semaphores = semaphores;
                    }

                    void waitForTen() throws InterruptedException {
                        AcquireRequest semaphore = AcquireRequest.of("mySemaphore");
                        Optional<PermitGrant> permit = semaphores.tryAcquire(semaphore.withPermits("mySemaphore", 10).withWaitTime(Duration.ofSeconds(15)).withKeepAlive(true));
                        boolean res = permit.isPresent();
                        if (res) {
                            try {
                                System.out.println("work");
                            } finally {
                                permit.ifPresent(PermitGrant::release);
                            }
                        }
                    }

                    void waitWithoutEnd() throws InterruptedException {
                        AcquireRequest semaphore = AcquireRequest.of("mySemaphore");
                        PermitGrant permit = semaphores.acquire(semaphore.withWaitTime(Duration.ofDays(365)).withKeepAlive(true));
                        try {
                            System.out.println("work");
                        } finally {
                            permit.release();
                        }
                    }

                    void doNotWait() {
                        AcquireRequest semaphore = AcquireRequest.of("mySemaphore");
                        Optional<PermitGrant> permit = semaphores.tryAcquire(semaphore.withKeepAlive(true));
                        if (!permit.isPresent()) {
                            return;
                        }
                        try {
                            System.out.println("work");
                        } finally {
                            permit.ifPresent(PermitGrant::release);
                        }
                    }
                }
                """))), newSettings("""
                    semaphore:
                      semaphores:
                        mySemaphore:
                          capacity: 10
                    """));
    }

    @Test
    void idsOfPermitsAreThoseOfGrants() {
        rewriteRun(srcMainJava(java("""
            import java.util.concurrent.TimeUnit;
            import org.redisson.api.RPermitExpirableSemaphore;
            import org.redisson.api.RedissonClient;

            class Work {

                private final RedissonClient client;
                private final RPermitExpirableSemaphore semaphore;

                Work(RedissonClient client) {
                    this.client = client;
                    semaphore = client.getPermitExpirableSemaphore("mySemaphore");
                    semaphore.trySetPermits(23);
                }

                String acquire() throws InterruptedException {
                    return semaphore.acquire();
                }

                String acquireForTenSeconds() throws InterruptedException {
                    return semaphore.acquire(10, TimeUnit.SECONDS);
                }

                boolean tryAcquire() {
                    String id = semaphore.tryAcquire();
                    return id != null && semaphore.tryRelease(id);
                }

                void waitTenSeconds() throws InterruptedException {
                    String id = semaphore.tryAcquire(10, 15, TimeUnit.SECONDS);
                    if (id != null) {
                        try {
                            System.out.println("work");
                        } finally {
                            semaphore.release(id);
                        }
                    }
                }

                void extend(String id, long time, TimeUnit unit) {
                    semaphore.updateLeaseTime(id, time, unit);
                }
            }
            """, compiling("""
                import java.time.Duration;
                import java.util.concurrent.TimeUnit;

                import io.dbsemaphore.AcquireRequest;
                import io.dbsemaphore.PermitGrant;
                import io.dbsemaphore.ReleaseOutcome;
                import io.dbsemaphore.SemaphoreOperations;

                class Work {

                    private final SemaphoreOperations semaphores;
                    private final AcquireRequest semaphore;

                    Work(SemaphoreOperations semaphores) {
                        this.semaphores = semaphores;
                        semaphore = AcquireRequest.of("mySemaphore");
                    }

                    String acquire() throws InterruptedException {
                        return semaphores.acquire(semaphore.withWaitTime(Duration.ofDays(365)).withoutTtl()).externalId();
                    }

                    String acquireForTenSeconds() throws InterruptedException {
                        return semaphores.acquire(semaphore.withWaitTime(Duration.ofDays(365)).withTtl(Duration.ofSeconds(10)).withReleaseAtShutdown(false)).externalId();
                    }

                    boolean tryAcquire() {
                        String id = semaphores.tryAcquire(semaphore.withoutTtl()).map(PermitGrant::externalId).orElse(null);
                        return id != null && semaphores.release(id) == ReleaseOutcome.RELEASED;
                    }

                    void waitTenSeconds() throws InterruptedException {
                        String id = semaphores.tryAcquire(semaphore.withWaitTime(Duration.ofSeconds(10)).withTtl(Duration.ofSeconds(15)).withReleaseAtShutdown(false)).map(PermitGrant::externalId).orElse(null);
                        if (id != null) {
                            try {
                                System.out.println("work");
                            } finally {
                                semaphores.release(id);
                            }
                        }
                    }

                    void extend(String id, long time, TimeUnit unit) {
                        semaphores.renew(id, Duration.of(time, unit.toChronoUnit()));
                    }
                }
                """))), newSettings("""
                    semaphore:
                      semaphores:
                        mySemaphore:
                          capacity: 23
                    """));
    }

    @Test
    void whoeverCatchesAnInterruptStillDoes() {
        rewriteRun(srcMainJava(java("""
            import org.redisson.api.RSemaphore;
            import org.redisson.api.RedissonClient;

            class Work {

                private final RedissonClient redisson;

                Work(RedissonClient redisson) {
                    this.redisson = redisson;
                }

                void work(String tenant) {
                    RSemaphore permit = redisson.getSemaphore("tenant:" + tenant);
                    permit.trySetPermits(3);
                    try {
                        permit.acquire();
                        try {
                            System.out.println("work");
                        } finally {
                            permit.release();
                        }
                    } catch (InterruptedException interrupted) {
                        Thread.currentThread().interrupt();
                    }
                }
            }
            """, compiling("""
                import io.dbsemaphore.AcquireInterruptedException;
                import io.dbsemaphore.AcquireRequest;
                import io.dbsemaphore.PermitGrant;
                import io.dbsemaphore.SemaphoreOperations;

                import java.time.Duration;

                class Work {

                    private final SemaphoreOperations semaphores;

                    Work(SemaphoreOperations semaphores) {
                        this.semaphores = semaphores;
                    }

                    void work(String tenant) {
                        AcquireRequest permit = AcquireRequest.of("tenant:" + tenant);
                        try {
                            PermitGrant permit2 = semaphores.acquire(permit.withWaitTime(Duration.ofDays(365)).withKeepAlive(true));
                            try {
                                System.out.println("work");
                            } finally {
                                permit2.release();
                            }
                        } catch (AcquireInterruptedException interrupted) {
                            Thread.currentThread().interrupt();
                        }
                    }
                }
                """))), newSettings("""
                    semaphore:
                      patterns:
                        "[tenant:*]":
                          capacity: 3
                    """));
    }

    @Test
    void theCapacityIsToBeConfiguredWhereNothingSetsThePermits() {
        rewriteRun(srcMainJava(java(IN_A_FIELD, compiling("""
            import io.dbsemaphore.AcquireRequest;
            import io.dbsemaphore.SemaphoreOperations;

            class Work {

                private final SemaphoreOperations semaphores;
                private final AcquireRequest semaphore;

                Work(SemaphoreOperations semaphores) {
                    this.semaphores = semaphores;
                    // TODO DB Semaphore: configure semaphore.semaphores.mySemaphore.capacity
                    semaphore = AcquireRequest.of("mySemaphore");
                }

                String acquire() {
                    return semaphores.tryAcquire(semaphore.withoutTtl()).map(PermitGrant::externalId).orElse(null);
                }
            }
            """.replace(
                        "import io.dbsemaphore.S", "import io.dbsemaphore.PermitGrant;\nimport io.dbsemaphore.S")))));
    }

    @Test
    void eachOfTwoSemaphoresHasAPermit() {
        rewriteRun(srcMainJava(java("""
            import org.redisson.api.RSemaphore;
            import org.redisson.api.RedissonClient;

            class Work {

                private RedissonClient redisson;

                void work(String permit2) throws InterruptedException {
                    RSemaphore disk = redisson.getSemaphore("disk");
                    RSemaphore network = redisson.getSemaphore("network");
                    disk.trySetPermits(2);
                    network.trySetPermits(1);
                    disk.acquire();
                    network.acquire();
                    try {
                        Runnable inner = () -> {
                            if (disk.tryAcquire()) {
                                try {
                                    System.out.println("more");
                                } finally {
                                    disk.release();
                                }
                            }
                        };
                        inner.run();
                    } finally {
                        network.release();
                        disk.release();
                    }
                }
            }
            """, compiling("""
                import io.dbsemaphore.AcquireRequest;
                import io.dbsemaphore.PermitGrant;
                import io.dbsemaphore.SemaphoreOperations;

                import java.time.Duration;
                import java.util.Optional;

                class Work {

                    private SemaphoreOperations semaphores;

                    void work(String permit2) throws InterruptedException {
                        AcquireRequest disk = AcquireRequest.of("disk");
                        AcquireRequest network = AcquireRequest.of("network");
                        PermitGrant permit = semaphores.acquire(disk.withWaitTime(Duration.ofDays(365)).withKeepAlive(true));
                        PermitGrant permit3 = semaphores.acquire(network.withWaitTime(Duration.ofDays(365)).withKeepAlive(true));
                        try {
                            Runnable inner = () -> {
                                Optional<PermitGrant> permit4 = semaphores.tryAcquire(disk.withKeepAlive(true));
                                if (permit4.isPresent()) {
                                    try {
                                        System.out.println("more");
                                    } finally {
                                        permit4.ifPresent(PermitGrant::release);
                                    }
                                }
                            };
                            inner.run();
                        } finally {
                            permit3.release();
                            permit.release();
                        }
                    }
                }
                """))), newSettings("""
                    semaphore:
                      semaphores:
                        disk:
                          capacity: 2
                        network:
                          capacity: 1
                    """));
    }

    @Test
    void aClientThatIsNoFieldIsKept() {
        String source = IN_A_FIELD
                .replace("    private final RedissonClient redisson;\n", "")
                .replace("        this.redisson = redisson;\n", "");

        rewriteRun(srcMainJava(java(
                source,
                source.replace(
                        "        return",
                        "        // TODO DB Semaphore: keep the RedissonClient in a field of this type, and run the recipe"
                                + " again\n        return"))));
    }

    /** Its constructor changes. */
    @Test
    void aTypeThatOthersGiveTheClientToIsKept() {
        rewriteRun(srcMainJava(java(IN_A_FIELD, USED_ELSEWHERE), java("""
            import org.redisson.api.RedissonClient;

            class Configuration {

                Work work(RedissonClient redisson) {
                    return new Work(redisson);
                }
            }
            """)));
    }

    /** What it acquires is not known. */
    @Test
    void allIsKeptWhereKotlinHasSemaphoresToo() {
        rewriteRun(srcMainJava(java(IN_A_FIELD, USED_ELSEWHERE)), srcMainKotlin(kotlin("""
            import org.redisson.api.RedissonClient

            class Other(private val redisson: RedissonClient) {

                fun count() = redisson.getSemaphore("mySemaphore").availablePermits()
            }
            """)));
    }

    @Test
    void anotherTypeWithANameThatIsNeededStays() {
        String source = IN_A_FIELD
                .replace("    String acquire", "    java.util.Optional<PermitGrant> grant;\n\n    String acquire")
                .replaceFirst("\\}\n*\\z", "\n    static class PermitGrant {}\n}\n");

        rewriteRun(srcMainJava(java(
                source,
                source.replace(
                        "class Work",
                        "// TODO DB Semaphore: the name PermitGrant is taken; rename it, and run the recipe again\n"
                                + "class Work"))));
    }

    /** Without the imports, and with classes of the same names. */
    @Test
    void ownClassesOfTheSameNameAreNone() {
        rewriteRun(srcMainJava(
                java("package own; public class RSemaphore { public void acquire() {} public void release() {} }"),
                java("""
                    package own;

                    class Semaphore {

                        private final RSemaphore semaphores = new RSemaphore();

                        void work() {
                            semaphores.acquire();
                            semaphores.release();
                        }
                    }
                    """),
                java("""
                    class Qualified {

                        org.redisson.api.RSemaphore semaphore;

                        void work() {
                            semaphore.release();
                        }
                    }
                    """, """
                    class Qualified {

                        org.redisson.api.RSemaphore semaphore;

                        void work() {
                            // TODO DB Semaphore: this file does not get the semaphore; acquire an AcquireRequest by SemaphoreOperations
                            semaphore.release();
                        }
                    }
                    """)));
    }

    /** A limit that one file counts in Redis, and another one in the database, would be none. */
    @Test
    void filesAreMigratedTogetherOrNotAtAll() {
        String counted = """
            import org.redisson.api.RPermitExpirableSemaphore;
            import org.redisson.api.RedissonClient;

            class Counted {

                private final RedissonClient redisson;
                private final RPermitExpirableSemaphore semaphore;

                Counted(RedissonClient redisson) {
                    this.redisson = redisson;
                    semaphore = redisson.getPermitExpirableSemaphore("mySemaphore");
                }

                int number() {
                    return semaphore.availablePermits();
                }
            }
            """;
        rewriteRun(srcMainJava(
                java(IN_A_FIELD, USED_ELSEWHERE),
                java(
                        counted,
                        counted.replace(
                                "        return",
                                "        // TODO DB Semaphore: availablePermits has no counterpart; use SemaphoreOperations,"
                                        + " SemaphoreAdmin, or the configured capacity\n        return"))));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        semaphore.acquire();                                            | nothing releases these permits
        semaphore.release();                                            | it is not certain what this releases
        semaphore.tryAcquire();                                         | keep the PermitGrant
        return semaphore.tryAcquire();                                  | keep the PermitGrant
        semaphore.acquire(10); try { } finally { semaphore.release(); } | 10 permits are acquired and 1 released
        semaphore.acquire(); semaphore.release();                       | it is not certain what this releases
        semaphore.acquireAsync();                                       | acquireAsync has no counterpart
        semaphore.addPermits(3);                                        | addPermits has no counterpart
        String.valueOf(semaphore);                                      | a semaphore of Redisson is passed on
        RSemaphore other = semaphore;                                   | a semaphore of Redisson is passed on
        redisson.getMap("map");                                         | the RedissonClient is used for something else
        String.valueOf(redisson);                                       | the RedissonClient is more than a field
        String.valueOf(redisson.getSemaphore("mySemaphore"));           | the RedissonClient is used for something else
        Runnable later = semaphore::release;                            | a semaphore of Redisson is passed on
        RedissonClient other = null;                                    | the RedissonClient is more than a field
        int semaphores = 1;                                             | the name 'semaphores' is taken
        try { semaphore.acquire(); try { Thread.sleep(1); } finally { semaphore.release(); } } catch (InterruptedException e) { } | an interrupted acquire throws AcquireInterruptedException
        """)
    void whatHasNoCounterpartStays(String statements, String told) {
        String source = """
            import org.redisson.api.RSemaphore;
            import org.redisson.api.RedissonClient;

            class Work {

                private final RedissonClient redisson;
                private final RSemaphore semaphore;

                Work(RedissonClient redisson) {
                    this.redisson = redisson;
                    semaphore = redisson.getSemaphore("mySemaphore");
                }

                Object work() throws Exception {
                    %s%s
                }
            }
            """.formatted(statements, statements.startsWith("return") ? "" : "return null;");

        rewriteRun(srcMainJava(java(
                source,
                spec -> spec.after(actual -> {
                    assertThat(actual).containsOnlyOnce("// TODO DB Semaphore: " + told);
                    assertThat(actual.replaceAll("// TODO DB Semaphore: .*", ""))
                            .isEqualToIgnoringWhitespace(source);
                    return actual;
                }))));
    }
}
