package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The supplier of the listeners, which creates the beans of an application. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ListenerSupplierIntegrationTests {

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anErrorOfItIsNoFailureOfAnAcquire(boolean async) throws Exception {
        AtomicBoolean fails = new AtomicBoolean();
        try (Schema schema = TestDatabase.create().migrate();
                SemaphoreEngine engine = new SemaphoreEngine(
                        schema.newPool(6),
                        TestSettings.defaults(),
                        () -> {
                            if (fails.get()) {
                                throw new NoClassDefFoundError("a listener that does not link");
                            }
                            return List.of();
                        },
                        List::of)) {
            SemaphoreTemplate semaphores = new SemaphoreTemplate(engine.permitManager());
            engine.admin().create("s", 1);
            AcquireRequest request = AcquireRequest.of("s").withKeepAlive(true);
            fails.set(true);

            PermitGrant grant =
                    async ? semaphores.acquireAsync(request).get(10, TimeUnit.SECONDS) : semaphores.acquire(request);

            assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(SemaphoreRows.held(schema, "s")).isZero();
        }
    }
}
