package io.dbsemaphore;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Where a caller stands among those that wait for permits of a semaphore, in all instances for which the semaphore is
 * {@linkplain io.dbsemaphore.config.SemaphoreSettings#FAIR fair}.
 *
 * @param name the name of the semaphore
 * @param ahead how many callers are ahead; 0 if the caller is next. Callers of other instances are counted as of the last poll or transaction
 * @param isLowerBound whether more callers may be ahead: of another instance, only the places of the first 16 callers are known, at most 8 of
 *     them with several names
 * @param expectedWait how long until the caller is served if permits go on being granted as often as in the last ten seconds; empty while
 *     fewer than three grants are known, while the semaphore is paused, and where permits are reused. An estimate: holds that become longer,
 *     head starts of later callers and requests for several permits make the wait longer
 */
public record QueuePosition(String name, long ahead, boolean isLowerBound, Optional<Duration> expectedWait) {

    /** Called with a waiting caller's position, for example to show it to a user; see {@link AcquireRequest#withWaitListener}. */
    @FunctionalInterface
    public interface Listener {

        /**
         * Called soon after the caller has begun to wait, and when its position has changed, about once a second at most. Runs on a thread of
         * the library ({@code semaphore-application-N}); calls for one caller do not overlap. An exception is logged and ignored.
         *
         * @param positions the position for each semaphore of the request, by name
         */
        void waiting(List<QueuePosition> positions);
    }

    /** Says where a caller stands. Implemented by the futures of asynchronous acquires. */
    @FunctionalInterface
    public interface Source {

        /**
         * Returns where the caller stands now. Does not ask the database.
         *
         * @return the position for each semaphore of the request, by name; empty if the caller does not wait
         */
        List<QueuePosition> positions();
    }
}
