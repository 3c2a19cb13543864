package io.dbsemaphore.line;

/**
 * How many callers may wait for a semaphore, or how many with the same share. Both ask this: the transaction that refuses a caller, and the
 * queue when the caller is about to wait.
 *
 * @param max the maximum number, of all instances; {@link #UNLIMITED} if there is none
 * @param here the number of callers of this instance that wait
 * @param keepsNewest whether a further caller may wait nevertheless, and displaces the one that came first; false if {@code max} is 0
 */
public record LineLimit(int max, int here, boolean keepsNewest) {

    public static final int UNLIMITED = Integer.MAX_VALUE;

    public static final LineLimit NONE = new LineLimit(UNLIMITED, 0);

    public LineLimit {
        keepsNewest &= max > 0;
    }

    /** A limit by which a further caller is refused. */
    public LineLimit(int max, int here) {
        this(max, here, false);
    }

    /**
     * Whether no further caller may wait.
     *
     * @param more the number of callers of this instance that are about to wait
     * @param elsewhere the number of callers of other instances that wait
     */
    public boolean isReached(int more, long elsewhere) {
        return max < UNLIMITED && !keepsNewest && here + more + elsewhere >= max;
    }

    /**
     * Whether a caller may no longer wait.
     *
     * @param newer the number of callers of all instances that came later and wait
     */
    public boolean isDisplacedBy(long newer) {
        return keepsNewest && newer >= max;
    }
}
