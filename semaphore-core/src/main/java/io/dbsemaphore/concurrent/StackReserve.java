package io.dbsemaphore.concurrent;

/**
 * Finds out whether the calling thread has enough stack left for work on the database. A {@link StackOverflowError} in the
 * middle of that leaves connections and queues half done that other threads use, too. So it has to come before.
 */
public final class StackReserve {

    /**
     * In compiled code about four times the stack that an acquire takes. Interpreted code, and Hibernate where the driver sends
     * statements one by one, take more.
     */
    private static final int FRAMES = 500;

    private StackReserve() {}

    /**
     * Requires it.
     *
     * @throws StackOverflowError when there is too little; nothing was done
     */
    public static void require() {
        long unused =
                descend(FRAMES, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24);
    }

    /** Whether there is enough. */
    public static boolean isEnough() {
        try {
            require();
            return true;
        } catch (StackOverflowError end) {
            return false;
        }
    }

    /** Takes stack by many parameters, which the compiler passes on the stack. */
    @SuppressWarnings("TooManyParameters")
    private static long descend(
            int frames,
            long a,
            long b,
            long c,
            long d,
            long e,
            long f,
            long g,
            long h,
            long i,
            long j,
            long k,
            long l,
            long m,
            long n,
            long o,
            long p,
            long q,
            long r,
            long s,
            long t,
            long u,
            long v,
            long w,
            long x) {
        return frames == 0
                ? a
                : a + descend(frames - 1, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, a);
    }
}
