package io.dbsemaphore.line;

/**
 * How many callers may wait for a semaphore. Both ask this: the transaction that refuses a caller, and the queue when the caller is about
 * to wait.
 *
 * @param max the maximum number, of all instances; {@link #UNLIMITED} if there is none
 * @param here the number of callers of this instance that wait
 */
public record LineLimit(int max, int here) {

    public static final int UNLIMITED = Integer.MAX_VALUE;

    public static final LineLimit NONE = new LineLimit(UNLIMITED, 0);

    /**
     * Whether no further caller may wait.
     *
     * @param more the number of callers of this instance that are about to wait
     */
    public boolean isReached(int more, WaitersElsewhere elsewhere) {
        return max < UNLIMITED && here + more + elsewhere.callers() >= max;
    }
}
