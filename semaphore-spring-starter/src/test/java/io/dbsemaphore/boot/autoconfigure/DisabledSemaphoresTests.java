package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.Permits;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreMaintenance;
import io.dbsemaphore.annotation.WithPermits;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.GenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.javapoet.ClassName;
import org.springframework.jdbc.core.JdbcTemplate;

/** An application that injects what the library offers, with {@code semaphore.enabled=false}, on a database without tables. */
@ExtendWith(OutputCaptureExtension.class)
class DisabledSemaphoresTests {

    private static final String NAME = "backup";
    private static final String WARNING = "no limit is enforced in this application, since semaphore.enabled=false";

    private ConfigurableApplicationContext host;

    @BeforeEach
    void start() {
        host = Hosts.start(
                Application.class,
                "semaphore.enabled=false",
                "semaphore.semaphores.backup.capacity=1",
                "spring.liquibase.enabled=false",
                "management.endpoints.web.exposure.include=semaphores");
    }

    @AfterEach
    void stop() {
        host.close();
    }

    @Test
    void runsMoreCallersAtOnceThanTheCapacity() throws InterruptedException, ExecutionException {
        Backup backup = host.getBean(Backup.class);
        CyclicBarrier allInside = new CyclicBarrier(10);
        ExecutorService threads = Executors.newFixedThreadPool(10);
        try {
            CompletableFuture<?>[] runs = IntStream.range(0, 10)
                    .mapToObj(i -> CompletableFuture.runAsync(() -> backup.meet(allInside), threads))
                    .toArray(CompletableFuture[]::new);

            CompletableFuture.allOf(runs).get();
        } finally {
            threads.shutdownNow();
        }
        SemaphoreTemplate template = host.getBean(SemaphoreTemplate.class);
        AcquireRequest all = AcquireRequest.of(NAME).exclusive();
        template.executeWithoutResult(
                all, outer -> assertThat(template.tryAcquire(all)).isPresent());
    }

    @Test
    void warnsOnceWhenThePermitsAreFirstAskedFor(CapturedOutput output) {
        assertThat(output).doesNotContain(WARNING);

        for (int i = 0; i < 3; i++) {
            host.getBean(Backup.class).isHeldInside();
            host.getBean(SemaphoreTemplate.class)
                    .acquire(AcquireRequest.of("other"))
                    .close();
        }

        assertThat(output.getOut().lines().filter(line -> line.contains(WARNING)))
                .singleElement()
                .asString()
                .contains("WARN", "[backup]");
    }

    @Test
    void bindsThePermitsOfAMethodToItsThreadAsAlways() {
        assertThat(host.getBean(Backup.class).isHeldInside()).isTrue();
        assertThatIllegalStateException()
                .isThrownBy(() -> host.getBean(Backup.class).callsItself())
                .withMessageContaining("through its bean");
    }

    @Test
    void handsOutGrantsThatBehaveAsReal() throws InterruptedException, ExecutionException {
        SemaphoreTemplate template = host.getBean(SemaphoreTemplate.class);
        PermitGrant grant = template.acquireAsync(AcquireRequest.of("b", "a")
                        .withExternalId("id")
                        .withOwner("me")
                        .withLabel("report")
                        .withTtl(Duration.ofMinutes(1)))
                .get();

        assertThat(grant.isHeld()).isTrue();
        assertThat(grant.externalId()).isEqualTo("id");
        assertThat(grant.owner()).isEqualTo("me");
        assertThat(grant.label()).contains("report");
        assertThat(grant.permits().keySet()).containsExactly("a", "b");
        assertThat(grant.fencingToken("a")).isZero();
        assertThat(grant.expiresAt()).contains(grant.acquiredAt().plusSeconds(60));
        assertThat(grant.renew(Duration.ofHours(1)).expiresAt().orElseThrow())
                .isAfter(grant.acquiredAt().plusSeconds(3599));
        template.requireHeld(grant);
        assertThat(template.find("id")).isEmpty();

        assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(grant.release()).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
        assertThat(grant.isHeld()).isFalse();
        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> template.requireHeld(grant));
        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> grant.renew(Duration.ofHours(1)));
        assertThat(template.acquire(AcquireRequest.of("a").withoutTtl()).expiresAt())
                .isEmpty();
        PermitGrant byDefault = template.acquire(AcquireRequest.of("a"));
        assertThat(byDefault.expiresAt()).contains(byDefault.acquiredAt().plus(Duration.ofMinutes(5)));
    }

    @Test
    void answersOperatorsAsOnADatabaseWithoutSemaphores() {
        SemaphoreAdmin admin = host.getBean(SemaphoreAdmin.class);
        SemaphoreMaintenance maintenance = host.getBean(SemaphoreMaintenance.class);
        host.getBean(SemaphoreTemplate.class).acquire(AcquireRequest.of(NAME));

        assertThat(admin.create(NAME, 3)).isFalse();
        assertThat(admin.list()).isEmpty();
        assertThat(admin.find(NAME)).isEmpty();
        assertThat(admin.delete(NAME)).isFalse();
        assertThat(admin.instances()).isEmpty();
        assertThat(admin.forceRelease("id", "me", "why")).isEqualTo(ReleaseOutcome.NOT_FOUND);
        assertThatExceptionOfType(SemaphoreNotFoundException.class)
                .isThrownBy(() -> admin.setCapacity(NAME, 1, "me", "why"));
        assertThatExceptionOfType(SemaphoreNotFoundException.class).isThrownBy(() -> admin.holders(NAME));
        assertThat(maintenance.releaseOrphans()
                        + maintenance.deleteReleasedRequests()
                        + maintenance.deleteCapacityHistory())
                .isZero();
    }

    /** Whatever they are asked, the answer has the type of the method, or says that the semaphore does not exist. */
    @ParameterizedTest
    @ValueSource(classes = {SemaphoreAdmin.class, SemaphoreMaintenance.class})
    void answersEverythingThatOperatorsMayAsk(Class<?> contract) throws IllegalAccessException {
        Object bean = host.getBean(contract);
        for (Method method : contract.getMethods()) {
            Object[] arguments = Stream.of(method.getParameterTypes())
                    .map(type -> type == int.class
                            ? (Object) 1
                            : type == long.class ? 1L : type == String.class ? NAME : null)
                    .toArray();
            try {
                method.invoke(bean, arguments);
            } catch (InvocationTargetException thrown) {
                assertThat(thrown.getCause()).as(method.toString()).isInstanceOf(SemaphoreNotFoundException.class);
            }
        }
        assertThat(Set.of(bean)).contains(host.getBean(contract));
        assertThat(bean).asString().contains(contract.getSimpleName());
    }

    @Test
    void usesNeitherThreadsNorTables() {
        host.getBean(Backup.class).isHeldInside();

        assertThat(Stream.of(host.getBeanDefinitionNames())).doesNotContain("semaphoreEngine", "semaphoresEndpoint");
        assertThat(host.getBean(JdbcTemplate.class)
                        .queryForList("select lower(table_name) from information_schema.tables", String.class))
                .isNotEmpty()
                .doesNotContain("permit", "semaphore");
    }

    @Test
    void bindsTheOrderOfTheAdviceInANativeImage() throws NoSuchMethodException {
        GenerationContext generation = new DefaultGenerationContext(
                new ClassNameGenerator(ClassName.get("com.example", "Generated")), new InMemoryGeneratedFiles());
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            TestPropertyValues.of("semaphore.enabled=false").applyTo(context);
            context.register(SemaphoreFallbackAutoConfiguration.class);
            new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
        }

        assertThat(reflection()
                        .onConstructorInvocation(
                                SemaphoreProperties.Aop.class.getDeclaredConstructor(int.class, boolean.class)))
                .accepts(generation.getRuntimeHints());
    }

    @EnableAutoConfiguration
    static class Application {

        @Bean
        Backup backup(SemaphoreTemplate template, SemaphoreAdmin admin, SemaphoreMaintenance maintenance) {
            return new Backup(template);
        }
    }

    static class Backup {

        private final SemaphoreTemplate template;

        Backup(SemaphoreTemplate template) {
            this.template = template;
        }

        @WithPermits(NAME)
        public boolean isHeldInside() {
            Permits.assertHeld(NAME);
            return Permits.current().isHeld();
        }

        public boolean callsItself() {
            return isHeldInside();
        }

        @WithPermits(NAME)
        public void meet(CyclicBarrier allInside) {
            try {
                allInside.await(10, TimeUnit.SECONDS);
            } catch (Exception alone) {
                throw new IllegalStateException("fewer than the barrier wants are inside", alone);
            }
        }
    }
}
