package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.spi.PermitManager;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A future that is cancelled after its grant was made: another caller may have got it, too, by the same external id. */
class LateCancellationTests {

    private final InMemoryPermitManager permits = new InMemoryPermitManager();
    private final CompletableFuture<PermitManager.AcquireResult> acquire = new CompletableFuture<>() {

        /** Another thread grants at this moment. */
        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            complete(permits.acquire(AcquireRequest.of("backup")));
            return super.cancel(mayInterruptIfRunning);
        }
    };

    @Test
    void deliversTheGrant() {
        SemaphoreTemplate template = new SemaphoreTemplate((PermitManager) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {PermitManager.class},
                (proxy, method, arguments) -> acquire));
        CompletableFuture<PermitGrant> future = template.acquireAsync(AcquireRequest.of("backup"));

        assertThat(future.cancel(true)).isFalse();

        assertThat(future.join().isHeld()).isTrue();
        assertThat(permits.held("backup")).isEqualTo(1);
        assertThat(permits.releases).hasValue(0);
    }
}
