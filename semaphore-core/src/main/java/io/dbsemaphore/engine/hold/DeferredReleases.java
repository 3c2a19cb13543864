package io.dbsemaphore.engine.hold;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.engine.support.Uninterruptibles;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The releases that were put off until a transaction of the host had ended. The thread that has ended it hands the release
 * in and goes on; while too many are under way it waits for a moment first, so that releases keep up with the work.
 */
public final class DeferredReleases {

    private static final int MAX_UNDER_WAY = 1000;

    /** The thread may still have a connection of the host, which the releases may need. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

    private final GrantRegistry held;
    private final BackgroundReleaser background;
    private final Semaphore places = new Semaphore(MAX_UNDER_WAY, true);

    public DeferredReleases(GrantRegistry held, BackgroundReleaser background) {
        this.held = held;
        this.background = background;
    }

    /**
     * Begins a release.
     *
     * @param release hands it in
     * @param done hears its outcome, on the library's background thread
     * @param failed runs when it failed, on a thread of the library or on this one
     */
    public void begin(
            Supplier<CompletableFuture<ReleaseOutcome>> release, Consumer<ReleaseOutcome> done, Runnable failed) {
        boolean counted = Uninterruptibles.acquire(places, Deadline.in(LONGEST_WAIT));
        held.releaseBegins();
        CompletableFuture<ReleaseOutcome> unused = submitAsync(release).whenComplete((outcome, failure) -> {
            if (failure == null) {
                background.execute(() -> done.accept(outcome));
            } else {
                failed.run();
            }
            held.releaseEnds();
            if (counted) {
                places.release();
            }
        });
    }

    private static CompletableFuture<ReleaseOutcome> submitAsync(Supplier<CompletableFuture<ReleaseOutcome>> release) {
        try {
            return release.get();
        } catch (RuntimeException | Error failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }
}
