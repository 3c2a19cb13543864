package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.spi.PermitManager.AcquireResult;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A guarded future whose executor does not take the release. */
class GuardedFutureTests {

    private final InMemoryPermitManager permits = new InMemoryPermitManager();
    private final CompletableFuture<String> work = new CompletableFuture<>();

    static Stream<Executor> unusable() {
        return Stream.of(
                task -> {
                    throw new RejectedExecutionException("shut down");
                },
                task -> {
                    throw new OutOfMemoryError("unable to create native thread");
                });
    }

    @ParameterizedTest
    @MethodSource("unusable")
    void releasesAndCompletesAllTheSame(Executor releases) {
        GuardedFuture<String> future = GuardedFuture.of(work, grant(), releases);

        work.complete("done");

        assertThat(future).isCompletedWithValue("done");
        assertThat(permits.held("backup")).isZero();
    }

    @ParameterizedTest
    @MethodSource("unusable")
    void failsAsTheWorkDoes(Executor releases) {
        GuardedFuture<String> future = GuardedFuture.of(work, grant(), releases);

        work.completeExceptionally(new StackOverflowError());

        assertThat(future).isCompletedExceptionally();
        assertThat(permits.held("backup")).isZero();
    }

    private PermitGrant grant() {
        return ((AcquireResult.Granted) permits.acquire(AcquireRequest.of("backup"))).grant();
    }
}
