package com.example.backups;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.test.InMemorySemaphores;
import io.dbsemaphore.test.autoconfigure.AutoConfigureSemaphores;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;

/** A whole application in which every permit is granted. */
@SpringBootTest(
        webEnvironment = SpringBootTest.WebEnvironment.NONE,
        properties = {BackupApplication.CAPACITY, BackupApplication.NO_DATABASE})
@AutoConfigureSemaphores(AutoConfigureSemaphores.Counting.NONE)
class UncountedTests {

    @Autowired
    private BackupApplication.BackupController backups;

    @Autowired
    private SemaphoreTemplate semaphores;

    @Autowired
    private ApplicationContext context;

    @Test
    void grantsEveryPermit() {
        assertThat(semaphores.tryAcquire(AcquireRequest.of("backup", 5))).isPresent();
        assertThat(semaphores.tryAcquire(AcquireRequest.of("anything"))).isPresent();
        assertThat(backups.backUp()).isEqualTo("done");
    }

    @Test
    void hasNeitherAnEngineNorSemaphoresInMemory() {
        assertThat(context.getBeanNamesForType(SemaphoreEngine.class)).isEmpty();
        assertThat(context.getBeanNamesForType(InMemorySemaphores.class)).isEmpty();
    }
}
