package io.dbsemaphore.aop;

import io.dbsemaphore.concurrent.DaemonThreads;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads on which guards release for callers that must not be blocked, such as event loops and threads that
 * complete a future. Daemon threads, separate from those of the application, which end when idle and so need no
 * shutdown.
 */
final class GuardThreads {

    private static final int IDLE_SECONDS = 10;

    private GuardThreads() {}

    /**
     * Returns an executor with one thread for each concurrent release; there are never more of them than grants are
     * held. A release must not queue behind dependent actions that an earlier one runs on the same thread. If no thread
     * can be created, the submitting thread runs the release.
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
            } catch (Error noThread) { // a release must succeed without a further thread
                release.run();
            }
        };
    }
}
