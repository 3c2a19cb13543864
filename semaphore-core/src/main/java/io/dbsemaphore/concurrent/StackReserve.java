package io.dbsemaphore.concurrent;

/**
 * Finds out whether the calling thread has enough stack left for an acquire or a release. A {@link StackOverflowError} in the
 * middle of that leaves queues and connections half done that other threads use, too. So it has to come before. The check
 * writes to the stack that it asks for, which evicts other data from the processor's caches: it asks for no more than is needed.
 */
public final class StackReserve {

    /**
     * What it takes to queue work, to wait for the answer, and to give back a grant that comes too late: 80 frames were too few,
     * 160 were enough. In compiled code 240 frames are 23 kB, interpreted 120 kB.
     */
    private static final int FRAMES_TO_WAIT = 240;

    /**
     * In compiled code about four times the stack that an acquire takes. Interpreted code, and Hibernate where the driver sends
     * statements one by one, take more.
     */
    private static final int FRAMES_FOR_DATABASE = 500;

    private StackReserve() {}

    /**
     * Requires enough to queue work for another thread, and to wait for it.
     *
     * @throws StackOverflowError when there is too little; nothing was done
     */
    public static void requireToWait() {
        require(FRAMES_TO_WAIT);
    }

    /** Whether there is enough for work on the database. */
    public static boolean isEnoughForDatabase() {
        try {
            require(FRAMES_FOR_DATABASE);
            return true;
        } catch (StackOverflowError end) {
            return false;
        }
    }

    private static void require(int frames) {
        long unused =
                descend(frames, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24);
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
