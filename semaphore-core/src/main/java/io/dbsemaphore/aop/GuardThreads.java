package io.dbsemaphore.aop;

import io.dbsemaphore.concurrent.DaemonThreads;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads on which guards release for callers that must not be blocked: event loops, and whoever completes a future.
 * Daemons that end when idle, so that nobody has to shut them down. Not shared with the application.
 */
final class GuardThreads {

    private static final int IDLE_SECONDS = 10;

    private GuardThreads() {}

    /**
     * As many as there are releases at once, never more than grants are held: a release must not queue behind the code
     * that goes on after an earlier one, on the same thread. While the system has no thread for one, it is done by the
     * thread that hands it in.
     */
    static Executor forReleases() {
        Executor threads = new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                new DaemonThreads().numbered("semaphore-release"));
        return release -> {
            try {
                threads.execute(release);
            } catch (Error noThread) { // a release must not depend on one
                release.run();
            }
        };
    }
}
