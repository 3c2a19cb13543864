package io.dbsemaphore.engine.hold;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.concurrent.Uninterruptibles;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Releases that were deferred until a transaction of the host had ended. The thread that ended the transaction submits the
 * release and continues. While too many releases are in progress, it waits first, so that releases keep up with the work.
 */
public final class DeferredReleases {

    private static final int MAX_IN_PROGRESS = 1000;

    /** Bounded, since the thread may still hold a connection of the host's pool that the releases need. */
    private static final Duration MAX_WAIT = Duration.ofSeconds(1);

    private final GrantRegistry held;
    private final BackgroundReleaser background;
    private final Semaphore slots = new Semaphore(MAX_IN_PROGRESS, true);

    public DeferredReleases(GrantRegistry held, BackgroundReleaser background) {
        this.held = held;
        this.background = background;
    }

    /**
     * Begins a release.
     *
     * @param release submits the release; does not throw
     * @param done receives its outcome, on a thread that code of the application may block
     * @param failed runs when the release has failed, on a thread of the library or on this one
     */
    public void begin(
            Supplier<CompletableFuture<ReleaseOutcome>> release, Consumer<ReleaseOutcome> done, Runnable failed) {
        boolean counted = Uninterruptibles.acquire(slots, MAX_WAIT.toNanos());
        held.releaseBegins();
        CompletableFuture<ReleaseOutcome> unused = release.get().whenComplete((outcome, failure) -> {
            if (failure == null) {
                background.execute(() -> done.accept(outcome));
            } else {
                failed.run();
            }
            held.releaseEnds();
            if (counted) {
                slots.release();
            }
        });
    }
}
