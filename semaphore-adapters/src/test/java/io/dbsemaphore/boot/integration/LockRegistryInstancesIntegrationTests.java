package io.dbsemaphore.boot.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.testing.ChildJvm;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.PeakCounter;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;

/** Instances of an application that only switches the adapter on. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Slow
class LockRegistryInstancesIntegrationTests {

    private static final Duration START = Duration.ofSeconds(150);

    private static final Duration SOON = Duration.ofSeconds(30);

    private static Schema schema;
    private static ConfigurableApplicationContext host;
    private static ConfigurableApplicationContext other;

    @BeforeAll
    static void start() {
        schema = TestDatabase.createForProcesses().migrate();
        host = start("one");
        other = start("other");
    }

    @AfterAll
    static void close() {
        other.close();
        host.close();
        schema.close();
    }

    private static ConfigurableApplicationContext start(String owner) {
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .run(
                        "--spring.datasource.url=" + schema.jdbcUrl(),
                        "--spring.datasource.username=" + schema.username(),
                        "--spring.datasource.password=" + schema.password(),
                        "--spring.main.banner-mode=off",
                        "--semaphore.shutdown-timeout=0s", // locks that a test leaves would keep its end waiting
                        "--semaphore.owner=" + owner,
                        "--semaphore.adapters.spring-integration.enabled=true",
                        "--semaphore.adapters.spring-integration.prefix=" + LockRegistryFixture.PREFIX);
    }

    @Test
    void takeTurns() {
        int[] counters = new int[8];
        PeakCounter[] inside = Stream.generate(PeakCounter::new).limit(8).toArray(PeakCounter[]::new);
        List<SemaphoreLockRegistry> registries = List.of(registry(host), registry(other));

        Concurrently.run(32, Duration.ofSeconds(200), thread -> {
            for (int round = 0; round < 16; round++) {
                int key = (thread + round) % counters.length;
                Lock lock = registries.get(thread / 16).obtain("key " + key);
                if (round % 2 == 0) {
                    lock.lockInterruptibly();
                } else {
                    assertThat(lock.tryLock(1, TimeUnit.MINUTES)).isEqualTo(true);
                }
                inside[key].enter();
                counters[key]++;
                inside[key].leave();
                lock.unlock();
            }
        });

        assertThat(inside).extracting(PeakCounter::peak).containsOnly(1);
        assertThat(counters).containsOnly(32 * 16 / 8);
    }

    @Test
    void showTheirLocksToOperators() {
        registry(host).obtain("shown").lock();

        assertThat(admin(other).holders("lock:shown"))
                .extracting(PermitHolder::owner)
                .containsExactly("one");
        registry(host).obtain("shown").unlock();
    }

    /** The thread in the lock may still be at work. */
    @Test
    void leaveALockToItsTimeToLiveWhenTheyStop() throws Exception {
        Instant expiry;
        try (ConfigurableApplicationContext stopping = start("stopping")) {
            registry(stopping).obtain("stopped").lock(Duration.ofSeconds(6));
            expiry = expiry("lock:stopped");
        }

        assertThat(registry(other).obtain("stopped").tryLock(30, TimeUnit.SECONDS))
                .isEqualTo(true);

        assertThat(admin(other).holders("lock:stopped").get(0).acquiredAt()).isAfterOrEqualTo(expiry);
        registry(other).obtain("stopped").unlock();
    }

    @Test
    void getTheLockOfAKilledHolderWhenItsTimeToLiveHasPassed() throws Exception {
        try (ChildJvm process = ChildJvm.start(LockHolderProcess.class, schema.handOver(), "killed")) {
            process.awaitLine("LOCKED", START);
            Instant expiry = expiry("lock:killed");
            process.kill9();
            Lock lock = registry(host).obtain("killed");

            assertThat(lock.tryLock(30, TimeUnit.SECONDS)).isEqualTo(true);

            assertThat(admin(host).holders("lock:killed").get(0).acquiredAt()).isAfterOrEqualTo(expiry);
            lock.unlock();
        }
    }

    @Test
    void electALeader() {
        Candidate candidate = new Candidate();
        Candidate otherCandidate = new Candidate();
        LockRegistryLeaderInitiator initiator = elect(host, candidate);
        LockRegistryLeaderInitiator otherInitiator = elect(other, otherCandidate);
        try {
            initiator.start();
            Awaitility.await("leadership").atMost(SOON).until(() -> candidate.leads);
            otherInitiator.start();
            Awaitility.await("still").during(Duration.ofSeconds(1)).until(() -> !otherCandidate.leads);

            initiator.stop();

            Awaitility.await("leadership of the other")
                    .atMost(SOON)
                    .until(() -> otherCandidate.leads && !candidate.leads);
        } finally {
            initiator.stop();
            otherInitiator.stop();
        }
    }

    private static LockRegistryLeaderInitiator elect(ConfigurableApplicationContext of, Candidate candidate) {
        LockRegistryLeaderInitiator initiator = new LockRegistryLeaderInitiator(registry(of), candidate);
        initiator.setHeartBeatMillis(50);
        initiator.setBusyWaitMillis(20);
        return initiator;
    }

    private static Instant expiry(String name) {
        return admin(other).holders(name).get(0).expiresAt().orElseThrow();
    }

    private static SemaphoreLockRegistry registry(ConfigurableApplicationContext of) {
        return of.getBean(SemaphoreLockRegistry.class);
    }

    private static SemaphoreAdmin admin(ConfigurableApplicationContext of) {
        return of.getBean(SemaphoreAdmin.class);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    private static final class Candidate extends DefaultCandidate {

        private volatile boolean leads;

        Candidate() {
            super("candidate", "leader");
        }

        @Override
        public void onGranted(Context context) {
            leads = true;
        }

        @Override
        public void onRevoked(Context context) {
            leads = false;
        }
    }
}
