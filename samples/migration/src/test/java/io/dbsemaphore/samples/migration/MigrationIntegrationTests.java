package io.dbsemaphore.samples.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.samples.migration.after.Exports;
import io.dbsemaphore.samples.migration.after.NightlyReport;
import io.dbsemaphore.samples.migration.after.Notifications;
import io.dbsemaphore.samples.migration.after.PartnerCalls;
import io.dbsemaphore.samples.migration.after.Rentals;
import io.dbsemaphore.samples.migration.after.Settlement;
import java.lang.Thread.State;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.resilience.annotation.EnableResilientMethods;

/** Both sides of each migration limit what they are to limit; those that need another server only compile. */
@SpringBootTest
class MigrationIntegrationTests {

    private static final List<Runnable> reports = new ArrayList<>();

    @Autowired
    SemaphoreAdmin admin;

    @Autowired
    JdbcTemplate jdbc;

    @AfterEach
    void nothingIsHeld() {
        assertThat(admin.list()).extracting(SemaphoreStatus::held).containsOnly(0L);
        reports.clear();
    }

    @Test
    void shedLockSkips(@Autowired io.dbsemaphore.samples.migration.before.NightlyReport report) {
        List<String> created = new ArrayList<>();
        reports.add(() -> {
            created.add("report");
            if (created.size() == 1) {
                CompletableFuture.runAsync(report::create).join();
            }
        });

        report.create();

        assertThat(created).containsExactly("report");
    }

    @Test
    void theAnnotationSkips(@Autowired NightlyReport report) {
        List<String> created = new ArrayList<>();
        reports.add(() -> {
            created.add("report");
            if (created.size() == 1) {
                CompletableFuture.runAsync(report::create).join();
            }
        });

        report.create();
        report.create();

        assertThat(created).containsExactly("report", "report");
    }

    @Test
    void theLockRegistryLocks(
            @Autowired io.dbsemaphore.samples.migration.before.CustomerFiles files, @Autowired LockRegistry<?> locks)
            throws InterruptedException {
        List<Boolean> locked = new ArrayList<>();

        files.write(
                "42",
                () -> locked.add(
                        CompletableFuture.supplyAsync(() -> tryLock(locks)).join()));
        locked.add(CompletableFuture.supplyAsync(() -> tryLock(locks)).join());

        assertThat(locked).containsExactly(false, true);
    }

    @Test
    void theLimitOfAnInstanceHolds(@Autowired io.dbsemaphore.samples.migration.before.Notifications notifications)
            throws InterruptedException {
        assertOneAfterTheOther(notifications::send);
    }

    @Test
    void theAnnotationLimits(@Autowired Notifications notifications) throws InterruptedException {
        assertOneAfterTheOther(notifications::send);
    }

    @Test
    void theRowIsLocked(@Autowired io.dbsemaphore.samples.migration.before.Settlement settlement) {
        List<Integer> free = new ArrayList<>();

        settlement.settle(
                () -> free.add(CompletableFuture.supplyAsync(this::freeRows).join()));
        free.add(freeRows());

        assertThat(free).containsExactly(0, 1);
    }

    @Test
    void thePermitIsHeldUntilTheTransactionHasEnded(@Autowired Settlement settlement) {
        assertHeldDuring("settlement", settlement::settle);
    }

    @Test
    void callsOfAPartnerHoldPermits(@Autowired PartnerCalls calls) throws InterruptedException {
        assertThat(calls.call(() -> "held: " + held("partner"))).isEqualTo("held: 1");
    }

    @Test
    void exportsHoldPermits(@Autowired Exports exports) {
        assertHeldDuring("export", exports::export);
    }

    @Test
    void rentalsAreKnownByTheirIds(@Autowired Rentals rentals) throws InterruptedException {
        String id = rentals.rent();
        rentals.extend(id);

        assertThat(held("car")).isEqualTo(1);
        rentals.giveBack(id);
    }

    private static void assertOneAfterTheOther(Consumer<Runnable> send) throws InterruptedException {
        List<String> sent = new ArrayList<>();
        Thread second = new Thread(() -> send.accept(() -> sent.add("second")));

        send.accept(() -> {
            second.start();
            await().until(second::getState, EnumSet.of(State.WAITING, State.TIMED_WAITING)::contains);
            sent.add("first");
        });
        second.join(20_000);

        assertThat(sent).containsExactly("first", "second");
    }

    /** Asserts that one permit is held while something runs. */
    private void assertHeldDuring(String name, Consumer<Runnable> run) {
        List<Long> held = new ArrayList<>();

        run.accept(() -> held.add(held(name)));

        assertThat(held).containsExactly(1L);
    }

    private long held(String name) {
        return admin.find(name).orElseThrow().held();
    }

    private static boolean tryLock(LockRegistry<?> locks) {
        var lock = locks.obtain("customer:42");
        boolean locked = lock.tryLock();
        if (locked) {
            lock.unlock();
        }
        return locked;
    }

    private int freeRows() {
        return jdbc.queryForList("select name from mutex for update skip locked")
                .size();
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration
    @EnableResilientMethods
    @EnableSchedulerLock(defaultLockAtMostFor = "10m")
    @Import({
        io.dbsemaphore.samples.migration.before.CustomerFiles.class,
        io.dbsemaphore.samples.migration.before.Settlement.class,
        io.dbsemaphore.samples.migration.before.Notifications.class,
        Exports.class,
        JdbcLocks.class,
        Notifications.class,
        PartnerCalls.class,
        Rentals.class,
        Settlement.class
    })
    static class Application {

        @Bean
        io.dbsemaphore.samples.migration.before.NightlyReport before() {
            return new io.dbsemaphore.samples.migration.before.NightlyReport(() -> reports.forEach(Runnable::run));
        }

        @Bean
        NightlyReport after() {
            return new NightlyReport(() -> reports.forEach(Runnable::run));
        }
    }
}
