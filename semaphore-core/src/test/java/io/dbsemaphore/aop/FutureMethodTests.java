package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dbsemaphore.Permits;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.annotation.WithPermits;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FutureMethodTests {

    private final GuardedContext context = GuardedContext.of(Backup.class);
    private final InMemoryPermitManager permits = context.permits;
    private final Backup backup = context.bean(Backup.class);
    private final CompletableFuture<String> work = new CompletableFuture<>();

    @AfterEach
    void close() {
        context.close();
    }

    @Test
    void holdsThePermitsUntilTheFutureCompletes() {
        CompletableFuture<String> future = backup.future(work);
        assertThat(permits.held("backup")).isEqualTo(1);
        assertThat(future).isNotDone();

        work.complete("done");

        assertThat(future.join()).isEqualTo("done");
        assertThat(permits.held("backup")).isZero();
        assertThat(permits.events).containsExactly("acquire", "release");
    }

    @Test
    void completesOnlyAfterTheRelease() {
        CompletableFuture<String> future = backup.future(work);
        CompletableFuture<Integer> heldAtTheEnd = future.thenApply(result -> permits.held("backup"));

        work.complete("done");

        assertThat(heldAtTheEnd.join()).isZero();
    }

    @Test
    void doesNotReleaseOnTheThreadThatCompletesTheFuture() {
        CompletableFuture<String> future = backup.future(work);

        work.complete("done");
        future.join();

        assertThat(permits.releasingThreads).hasSize(1).doesNotContain(Thread.currentThread());
    }

    @Test
    void releasesAtOnceWhatIsDoneAlready() {
        CompletableFuture<String> future = backup.future(CompletableFuture.completedFuture("done"));

        assertThat(future).isCompletedWithValue("done");
        assertThat(permits.releasingThreads).containsExactly(Thread.currentThread());
    }

    @Test
    void guardsACompletionStage() {
        CompletionStage<String> stage = backup.stage(work.minimalCompletionStage());
        assertThat(permits.held("backup")).isEqualTo(1);

        work.complete("done");

        assertThat(stage.toCompletableFuture().join()).isEqualTo("done");
        assertThat(permits.held("backup")).isZero();
    }

    @Test
    void showsTheGrantToTheMethod() {
        assertThat(backup.grantOwner().join()).isEqualTo("nightly");
        assertThat(Permits.find()).isEmpty();
    }

    @Test
    void failsAsTheFutureDoes() {
        IllegalStateException failure = new IllegalStateException("disk full");
        CompletableFuture<String> future = backup.future(work);

        work.completeExceptionally(failure);

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> future.get(10, TimeUnit.SECONDS))
                .havingCause()
                .isSameAs(failure);
        assertThat(permits.held("backup")).isZero();
    }

    @Test
    void failsAsTheLastStageDoes() {
        IllegalStateException failure = new IllegalStateException("disk full");
        CompletableFuture<String> future = backup.future(work.thenApply(result -> result + "!"));

        work.completeExceptionally(failure);

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> future.get(10, TimeUnit.SECONDS))
                .havingCause()
                .isSameAs(failure);
    }

    @Test
    void releasesAtOnceWhenTheMethodThrows() {
        IllegalStateException failure = new IllegalStateException("disk full");

        assertThatIllegalStateException()
                .isThrownBy(() -> backup.throwing(failure))
                .isSameAs(failure);
        assertThat(permits.events).containsExactly("acquire", "release");
    }

    @Test
    void releasesAtOnceWhenTheMethodReturnsNull() {
        assertThat(backup.future(null)).isNull();
        assertThat(permits.events).containsExactly("acquire", "release");
    }

    @Test
    void throwsWhenThePermitsAreUnavailable() {
        permits.capacity("backup", 0);

        assertThatExceptionOfType(PermitsUnavailableException.class).isThrownBy(() -> backup.future(work));
    }

    @Test
    void cancelsTheWorkAndReleases() {
        CompletableFuture<String> future = backup.future(work);

        assertThat(future.cancel(true)).isTrue();

        assertThat(work).isCancelled();
        assertThat(future).isCancelled();
        assertThat(permits.held("backup")).isZero();
        assertThat(permits.events).containsExactly("acquire", "release");
        assertThat(permits.releases).hasValue(1);
    }

    @Test
    void releasesWhenWorkIsCancelledThatCannotBe() {
        CompletableFuture<String> future =
                backup.stage(work.minimalCompletionStage()).toCompletableFuture();

        assertThat(future.cancel(false)).isTrue();
        work.complete("went on");

        assertThat(future).isCancelled();
        assertThat(permits.held("backup")).isZero();
        assertThat(permits.releases).hasValue(1);
    }

    @Test
    void releasesTheGrantOfAStageThatCannotBeHadAsAFuture() {
        CompletableFuture<String> stage = new CompletableFuture<>() {

            @Override
            public CompletableFuture<String> toCompletableFuture() {
                throw new UnsupportedOperationException();
            }
        };
        CompletableFuture<String> cancelled = backup.stage(stage).toCompletableFuture();
        assertThat(cancelled.cancel(true)).isTrue();
        assertThat(permits.held("backup")).isZero();

        CompletableFuture<String> completed = backup.stage(stage).toCompletableFuture();
        stage.complete("done");

        assertThat(completed.join()).isEqualTo("done");
        assertThat(cancelled).isCancelled();
        assertThat(permits.releases).hasValue(2);
    }

    @Test
    void isCancelledWhenTheWorkIs() {
        CompletableFuture<String> future = backup.future(work);

        work.cancel(true);

        assertThatExceptionOfType(CancellationException.class).isThrownBy(future::join);
        assertThat(future).isCancelled();
        assertThat(permits.held("backup")).isZero();
    }

    @Test
    void ignoresACancellationAfterTheEnd() {
        CompletableFuture<String> future = backup.future(work);
        work.complete("done");
        future.join();

        assertThat(future.cancel(true)).isFalse();

        assertThat(future).isCompletedWithValue("done");
        assertThat(permits.releases).hasValue(1);
    }

    @Test
    void keepsThePermitsOfWorkThatGoesOnAfterItsCallerTimedOut() {
        CompletableFuture<String> future = backup.future(work).orTimeout(1, TimeUnit.MILLISECONDS);

        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(future::join)
                .withCauseInstanceOf(TimeoutException.class);

        assertThat(permits.held("backup")).isEqualTo(1);
    }

    @Test
    void succeedsWhereOnlyTheReleaseFailed() {
        permits.releaseFailure = new IllegalStateException("database away");
        CompletableFuture<String> future = backup.future(work);

        work.complete("done");

        assertThat(future.join()).isEqualTo("done");
    }

    @Test
    void failsAsTheFutureDoesWhereTheReleaseFailsToo() {
        permits.releaseFailure = new IllegalStateException("database away");
        IllegalStateException failure = new IllegalStateException("disk full");
        CompletableFuture<String> future = backup.future(work);

        work.completeExceptionally(failure);

        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(future::join)
                .havingCause()
                .isSameAs(failure);
    }

    @Test
    void throwsWhatTheMethodThrewWhereTheReleaseFailsToo() {
        permits.releaseFailure = new IllegalStateException("database away");
        IllegalStateException failure = new IllegalStateException("disk full");

        assertThatIllegalStateException()
                .isThrownBy(() -> backup.throwing(failure))
                .isSameAs(failure);
    }

    static class Backup {

        @WithPermits("backup")
        public @Nullable CompletableFuture<String> future(@Nullable CompletableFuture<String> work) {
            return work;
        }

        @WithPermits("backup")
        CompletionStage<String> stage(CompletionStage<String> work) {
            return work;
        }

        @WithPermits(names = "backup", owner = "nightly")
        CompletableFuture<String> grantOwner() {
            return CompletableFuture.completedFuture(Permits.current().owner());
        }

        @WithPermits("backup")
        CompletableFuture<String> throwing(RuntimeException failure) {
            throw failure;
        }
    }
}
