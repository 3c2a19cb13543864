package io.dbsemaphore.samples.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.Mockito.verifyNoInteractions;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.Permits;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

@SpringBootTest(properties = {"spring.datasource.url=jdbc:h2:mem:backup-service", "backup.wait-time=2s"})
class BackupServiceTests {

    private static final Snapshot SNAPSHOT = new Snapshot("1", "orders");

    @Autowired
    private BackupService backups;

    @Autowired
    private ReplicationService replications;

    @Autowired
    private SemaphoreTemplate semaphores;

    @Autowired
    private SemaphoreAdmin admin;

    @MockitoBean
    private Transfer transfer;

    @Test
    void backsUpUnderOnePermitOfEachSemaphore() {
        AtomicReference<PermitGrant> held = grantDuringTransfer();
        backups.backUp(SNAPSHOT);
        assertThat(held.get().permits()).isEqualTo(Map.of("backup", 1, "network", 1));
        assertThat(held.get().isHeld()).as("is held after the backup").isFalse();
    }

    @Test
    void replicatesUnderOnePermitOfTheNetwork() {
        AtomicReference<PermitGrant> held = grantDuringTransfer();
        replications.replicate(SNAPSHOT, Duration.ZERO);
        assertThat(held.get().permits()).isEqualTo(Map.of("network", 1));
    }

    @Test
    void holdsNeitherPermitWhenOneIsUnavailable() {
        try (PermitGrant network =
                semaphores.acquire(AcquireRequest.of("network").exclusive())) {
            assertThatExceptionOfType(PermitsUnavailableException.class)
                    .isThrownBy(() -> backups.backUp(SNAPSHOT))
                    .satisfies(e -> assertThat(e.shortages())
                            .singleElement()
                            .satisfies(shortage -> assertThat(shortage.name()).isEqualTo("network")));
            assertThat(admin.holders("backup")).isEmpty();
            assertThat(admin.holders("network")).hasSize(1);
        }
        verifyNoInteractions(transfer);
    }

    private AtomicReference<PermitGrant> grantDuringTransfer() {
        AtomicReference<PermitGrant> held = new AtomicReference<>();
        willAnswer(invocation -> {
                    held.set(Permits.current());
                    return null;
                })
                .given(transfer)
                .copy(any(), any());
        return held;
    }
}
