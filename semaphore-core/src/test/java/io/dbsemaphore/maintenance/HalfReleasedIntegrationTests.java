package io.dbsemaphore.maintenance;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.testing.LoggedWarnings;
import io.dbsemaphore.testing.node.Node;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The maintenance repairs requests that were released without their permits. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HalfReleasedIntegrationTests extends SweepFixture {

    @Test
    void mendsMoreThanOneBatchOfWhatWasHalfReleased() {
        Node narrow = instances.start(Instances.inBatchesOf(3));
        String wide = instances.semaphore(10);
        for (int i = 0; i < 10; i++) {
            holder.semaphores().acquire(AcquireRequest.of(wide).withTtl(AN_HOUR));
        }
        instances.jdbc().update("update permit_request set state = 'RELEASED' where state = 'ACQUIRED'");

        narrow.maintenance().releaseOrphans();

        assertThat(instances.held(wide)).isZero();
    }

    @Test
    void mendsWhatWasHalfReleasedAndSaysSo() {
        acquire(AcquireRequest.of(name).withPermits(name, 3).withTtl(AN_HOUR));
        String whole = instances.externalId();
        holder.semaphores().acquire(AcquireRequest.of(name).withExternalId(whole));
        instances.jdbc().update("update permit_request set state = 'RELEASED' where external_id = ?", id);
        assertThat(instances.held(name)).isEqualTo(4);

        List<String> warnings = LoggedWarnings.of("io.dbsemaphore.engine.DatabaseSemaphoreMaintenance", () -> {
            sweeper.maintenance().releaseOrphans();
            sweeper.maintenance().releaseOrphans();
        });

        assertThat(instances.held(name)).isEqualTo(1);
        assertThat(instances.states(whole)).containsExactly("ACQUIRED");
        assertThat(warnings)
                .singleElement()
                .satisfies(warning -> assertThat(warning).contains("Released 1 permit(s)"));
    }
}
