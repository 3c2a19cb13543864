package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.spi.PermitManager;
import io.dbsemaphore.testing.Concurrently;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A future that is cancelled after its grant was made: another caller may have got it, too, by the same external id. */
class LateCancellationTests {

    private final InMemoryPermitManager permits = new InMemoryPermitManager();
    private final CompletableFuture<PermitManager.AcquireResult> acquire = new CompletableFuture<>();
    private final SemaphoreTemplate template = new SemaphoreTemplate((PermitManager) Proxy.newProxyInstance(
            getClass().getClassLoader(), new Class<?>[] {PermitManager.class}, (proxy, method, arguments) -> acquire));

    @Test
    void deliversTheGrant() throws Exception {
        CompletableFuture<PermitGrant> future = template.acquireAsync(AcquireRequest.of("backup"));
        CountDownLatch granted = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        CompletableFuture<?> unused = acquire.thenRun(
                () -> { // before the actions that were added earlier
                    granted.countDown();
                    awaitUninterruptibly(goOn);
                });
        Future<Boolean> granting =
                Concurrently.async(() -> acquire.complete(permits.acquire(AcquireRequest.of("backup"))));
        assertThat(granted.await(20, TimeUnit.SECONDS)).isTrue();

        boolean cancelled = future.cancel(true);

        goOn.countDown();
        assertThat(Concurrently.get(granting)).isTrue();
        assertThat(cancelled).isFalse();
        assertThat(future.join().isHeld()).isTrue();
        assertThat(permits.held("backup")).isEqualTo(1);
        assertThat(permits.releases).hasValue(0);
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            boolean unused = latch.await(20, TimeUnit.SECONDS);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }
}
