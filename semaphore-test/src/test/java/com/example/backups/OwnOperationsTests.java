package com.example.backups;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.test.InMemorySemaphores;
import io.dbsemaphore.test.autoconfigure.AutoConfigureSemaphores;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;

/** A test that defines the operations itself gets its own. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.NONE, properties = BackupApplication.NO_DATABASE)
@AutoConfigureSemaphores
class OwnOperationsTests {

    private static final InMemorySemaphores OWN = InMemorySemaphores.of("backup", 1);

    @TestConfiguration(proxyBeanMethods = false)
    static class Own {

        @Bean
        SemaphoreOperations ownOperations() {
            return OWN;
        }
    }

    @Autowired
    private BackupApplication.BackupController backups;

    @Autowired
    private ApplicationContext context;

    @Test
    void usesThem() {
        OWN.refuseNext("backup");

        assertThat(catchThrowable(backups::backUp)).hasMessageContaining("backup");
        assertThat(context.getBeanNamesForType(SemaphoreOperations.class)).containsExactly("ownOperations");
        assertThat(context.getBeanNamesForType(SemaphoreAdmin.class)).hasSize(1);
    }
}
