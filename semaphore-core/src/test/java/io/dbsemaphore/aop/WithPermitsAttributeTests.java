package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.annotation.WithPermits;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AliasFor;

class WithPermitsAttributeTests {

    private final GuardedContext context = GuardedContext.withProperties(
            Map.of(
                    "backup.semaphore",
                    "backup-eu",
                    "backup.ttl",
                    "90s",
                    "backup.share",
                    "acme/batch",
                    "backup.owner",
                    "night shift",
                    "backup.label",
                    "full backup"),
            Backup.class);

    @AfterEach
    void close() {
        context.close();
    }

    @Test
    void asksForOnePermitAndLeavesAllElseToTheDefaults() {
        AcquireRequest request = requestOf(Backup::plain);

        assertThat(request.permits()).isEqualTo(Map.of("backup", 1));
        assertThat(request.ttl()).isEmpty();
        assertThat(request.isWithoutTtl()).isFalse();
        assertThat(request.maxHold()).isEmpty();
        assertThat(request.headStart()).isZero();
        assertThat(request.share()).isEmpty();
        assertThat(request.waitTime()).isEmpty();
        assertThat(request.owner()).isEmpty();
        assertThat(request.externalId()).isEmpty();
        assertThat(request.isExclusive()).isFalse();
        assertThat(request.keepAlive()).contains(true);
        assertThat(request.isReleaseAtShutdown()).isTrue();
    }

    @Test
    void asksForSeveralNames() {
        assertThat(requestOf(Backup::twoNames).permits())
                .containsExactly(Map.entry("backup", 1), Map.entry("network", 1));
    }

    @Test
    void asksForTheSameNumberOfEachName() {
        assertThat(requestOf(Backup::oneCountForAll).permits()).isEqualTo(Map.of("backup", 3, "network", 3));
    }

    @Test
    void asksForANumberPerName() {
        assertThat(requestOf(Backup::oneCountEach).permits()).isEqualTo(Map.of("backup", 2, "network", 5));
    }

    @Test
    void readsShortDurations() {
        AcquireRequest request = requestOf(Backup::shortDurations);

        assertThat(request.ttl()).contains(Duration.ofSeconds(30));
        assertThat(request.waitTime()).contains(Duration.ofMillis(250));
        assertThat(request.maxHold()).contains(Duration.ofMinutes(90));
        assertThat(request.headStart()).isEqualTo(Duration.ofMinutes(2));
    }

    @Test
    void readsIsoDurations() {
        AcquireRequest request = requestOf(Backup::isoDurations);

        assertThat(request.ttl()).contains(Duration.ofSeconds(30));
        assertThat(request.waitTime()).contains(Duration.ofMillis(250));
        assertThat(request.maxHold()).contains(Duration.ofMinutes(90));
        assertThat(request.headStart()).isEqualTo(Duration.ofMinutes(2));
    }

    @Test
    void takesAWaitTimeOfZero() {
        assertThat(requestOf(Backup::zeroWaitTime).waitTime()).contains(Duration.ZERO);
    }

    @Test
    void resolvesPlaceholders() {
        AcquireRequest request = requestOf(Backup::placeholders);

        assertThat(request.permits()).containsOnlyKeys("backup-eu");
        assertThat(request.ttl()).contains(Duration.ofSeconds(90));
        assertThat(request.headStart()).isEqualTo(Duration.ofSeconds(90));
        assertThat(request.share()).contains("acme/batch");
        assertThat(request.owner()).contains("night shift");
        assertThat(request.label()).contains("full backup");
    }

    @Test
    void takesAnEmptyPlaceholderForNothing() {
        AcquireRequest request = requestOf(Backup::emptyPlaceholders);

        assertThat(request.ttl()).isEmpty();
        assertThat(request.share()).isEmpty();
        assertThat(request.owner()).isEmpty();
        assertThat(request.label()).contains("Backup.emptyPlaceholders");
    }

    @Test
    void passesTheShareOn() {
        assertThat(requestOf(Backup::shared).share()).contains("acme");
    }

    @Test
    void passesTheOwnerOn() {
        assertThat(requestOf(Backup::owned).owner()).contains("nightly");
    }

    @Test
    void labelsTheRequestWithTheClassAndTheMethod() {
        assertThat(requestOf(Backup::plain).label()).contains("Backup.plain");
        assertThat(requestOf(Backup::labelled).label()).contains("full");
    }

    @Test
    void labelsTheRequestOfAnInheritedMethodWithTheClassOfTheBean() {
        try (GuardedContext tape = GuardedContext.withProperties(Map.of(), TapeBackup.class)) {
            tape.bean(TapeBackup.class).archive();

            assertThat(tape.permits.lastRequest().label()).contains("TapeBackup.archive");
        }
    }

    @Test
    void labelsTheRequestOfAnAnonymousClassWithTheClassThatItIsIn() {
        try (GuardedContext anonymous = GuardedContext.of(AnonymousBackup.class)) {
            anonymous.bean(Runnable.class).run();

            assertThat(anonymous.permits.lastRequest().label())
                    .contains("WithPermitsAttributeTests.AnonymousBackup.1.run");
        }
    }

    @Test
    void cutsANameThatIsTooLongForALabel() {
        String label = requestOf(
                        Backup
                                ::aMethodWhoseNameIsLongerThanALabelMayBe_012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789)
                .label()
                .orElseThrow();

        assertThat(label).hasSize(190).startsWith("Backup.aMethodWhoseNameIsLongerThanALabelMayBe_");
    }

    @Test
    void switchesTheKeepAliveOff() {
        assertThat(requestOf(Backup::notKeptAlive).keepAlive()).contains(false);
    }

    @Test
    void leavesTheGrantHeldAtShutdown() {
        assertThat(requestOf(Backup::outlivingTheInstance).isReleaseAtShutdown())
                .isFalse();
    }

    @Test
    void asksForTheWholeCapacity() {
        AcquireRequest request = requestOf(Backup::exclusive);

        assertThat(request.isExclusive()).isTrue();
        assertThat(request.permits()).containsOnlyKeys("backup", "network");
    }

    @Test
    void readsAComposedAnnotation() {
        AcquireRequest request = requestOf(Backup::composed);

        assertThat(request.permits()).containsOnlyKeys("nightly");
        assertThat(request.ttl()).contains(Duration.ofMinutes(30));
    }

    @Test
    void makesTheRequestOfAMethodWithoutExpressionsOnce() {
        assertThat(requestOf(Backup::plain)).isSameAs(requestOf(Backup::plain));
    }

    private AcquireRequest requestOf(Consumer<Backup> call) {
        for (String name : context.bean(Backup.class).names()) {
            context.permits.capacity(name, 10);
        }
        call.accept(context.bean(Backup.class));
        return context.permits.lastRequest();
    }

    static class Backup {

        String[] names() {
            return new String[] {"backup", "network", "backup-eu", "nightly"};
        }

        @WithPermits("backup")
        void plain() {}

        @WithPermits(names = {"backup", "network"})
        void twoNames() {}

        @WithPermits(
                names = {"backup", "network"},
                permits = 3)
        void oneCountForAll() {}

        @WithPermits(
                names = {"backup", "network"},
                permits = {2, 5})
        void oneCountEach() {}

        @WithPermits(names = "backup", ttl = "30s", waitTime = "250ms", headStart = "2m", maxHold = "1h30m")
        void shortDurations() {}

        @WithPermits(names = "backup", ttl = "PT30S", waitTime = "PT0.25S", headStart = "PT2M", maxHold = "PT1H30M")
        void isoDurations() {}

        @WithPermits(names = "backup", waitTime = "0s")
        void zeroWaitTime() {}

        @WithPermits(
                names = "${backup.semaphore}",
                ttl = "${backup.ttl}",
                headStart = "${backup.ttl}",
                share = "${backup.share}",
                owner = "${backup.owner}",
                label = "${backup.label}")
        void placeholders() {}

        @WithPermits(
                names = "backup",
                ttl = "${missing:}",
                share = "${missing:}",
                owner = "${missing:}",
                label = "${missing:}")
        void emptyPlaceholders() {}

        @WithPermits(names = "backup", share = "acme")
        void shared() {}

        @WithPermits(names = "backup", owner = "nightly")
        void owned() {}

        @WithPermits(names = "backup", label = "full")
        void labelled() {}

        @WithPermits("backup")
        void
                aMethodWhoseNameIsLongerThanALabelMayBe_012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789() {}

        @WithPermits(names = "backup", keepAlive = false)
        void notKeptAlive() {}

        @WithPermits(names = "backup", releaseAtShutdown = false)
        void outlivingTheInstance() {}

        @WithPermits(
                names = {"backup", "network"},
                exclusive = true)
        void exclusive() {}

        @NightlyPermit("nightly")
        void composed() {}
    }

    @WithPermits("tape")
    static class Archive {

        void archive() {}
    }

    static class TapeBackup extends Archive {}

    @Configuration(proxyBeanMethods = false)
    static class AnonymousBackup {

        @Bean
        Runnable backup() {
            return new Runnable() {

                @Override
                @WithPermits("backup")
                public void run() {}
            };
        }
    }

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @WithPermits(ttl = "30m")
    @interface NightlyPermit {

        @AliasFor(annotation = WithPermits.class, attribute = "names")
        String[] value();
    }
}
