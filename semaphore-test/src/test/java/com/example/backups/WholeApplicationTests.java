package com.example.backups;

import static io.dbsemaphore.test.SemaphoreAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireFuture;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.test.InMemorySemaphores;
import io.dbsemaphore.test.PermitLeakExtension;
import io.dbsemaphore.test.autoconfigure.AutoConfigureSemaphores;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;

/** A whole application starts without its database, with the semaphores, patterns and settings of its properties. */
@SpringBootTest(
        webEnvironment = SpringBootTest.WebEnvironment.NONE,
        properties = {
            BackupApplication.CAPACITY,
            BackupApplication.WAIT_TIME,
            BackupApplication.WEIGHTS,
            BackupApplication.PATTERN,
            BackupApplication.OWNER,
            BackupApplication.NO_DATABASE
        })
@AutoConfigureSemaphores
@ExtendWith(PermitLeakExtension.class)
class WholeApplicationTests {

    @Autowired
    private BackupApplication.BackupController backups;

    @Autowired
    private InMemorySemaphores semaphores;

    @Autowired
    private SemaphoreTemplate template;

    @Autowired
    private SemaphoreAdmin admin;

    @Autowired
    private ApplicationContext context;

    @Test
    void guardsItsBeans() {
        assertThat(backups.backUp()).isEqualTo("done");
        semaphores.failNext("backup", new IllegalStateException("scripted"));
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(backups::backUp)
                .withMessage("scripted");
    }

    @Test
    void hasTheSemaphoresOfItsProperties() {
        assertThat(admin).semaphore("backup").hasCapacity(1);
        try (PermitGrant grant = template.acquire(AcquireRequest.of("tenant:a", 2))) {
            assertThat(grant.owner()).isEqualTo("backups");
            assertThat(admin).semaphore("tenant:a").hasHeld(2);
        }
        assertThatExceptionOfType(SemaphoreNotFoundException.class)
                .isThrownBy(() -> template.acquire(AcquireRequest.of("backups")))
                .withMessageContaining("Did you mean 'backup'?");
    }

    @Test
    void waitsAsItsPropertiesSay() {
        PermitGrant first = template.acquire(AcquireRequest.of("backup").withoutTtl());
        CompletableFuture<PermitGrant> waiting = template.acquireAsync(AcquireRequest.of("backup"));
        semaphores.clock().advance(Duration.ofMinutes(59));
        assertThat(admin).semaphore("backup").hasWaiting(1);

        semaphores.clock().advance(Duration.ofMinutes(1));

        assertThat(waiting).failsWithin(Duration.ofSeconds(10));
        first.release();
    }

    @Test
    void servesSharesAsItsPropertiesSay() {
        PermitGrant holder = template.acquire(AcquireRequest.of("backup"));
        List<AcquireFuture> waiting = Stream.of("a", "a", "acme", "acme")
                .map(share -> template.acquireAsync(AcquireRequest.of("backup").withShare(share)))
                .toList();

        assertThat(waiting)
                .extracting(caller -> caller.positions().get(0).ahead())
                .containsExactly(0L, 3L, 1L, 2L);
        holder.release();
        Stream.of(0, 2, 3, 1).forEach(next -> waiting.get(next).join().release());
    }

    @Test
    void hasNoEngine() {
        assertThat(context.getBeanNamesForType(SemaphoreEngine.class)).isEmpty();
        assertThat(context.getBeansOfType(SemaphoreTemplate.class)).containsOnlyKeys("inMemorySemaphores");
        assertThat(admin).isSameAs(semaphores.admin());
    }
}
