package io.dbsemaphore.concurrent;

/**
 * Finds out whether the calling thread has enough stack left for an acquire or a release. A {@link StackOverflowError} in the
 * middle of one would leave shared queues and connections in an inconsistent state. It therefore has to be thrown before.
 *
 * <p>The check takes the stack that it asks for, before every acquire and release, so it should be fast and should not evict
 * other data from the processor's caches. Its frames are large, and are hardly written to.
 */
public final class StackReserve {

    /**
     * What it takes to queue work, to wait for the answer, and to give back a grant that comes too late: 80 frames were too few,
     * 160 were enough. In compiled code 240 frames are 23 kB, interpreted 120 kB.
     */
    private static final int FRAMES_TO_WAIT = 240;

    /** What it takes to put a reused permit back. Little, since there may be millions of uses in a second. */
    private static final int FRAMES_TO_PUT_BACK = 16;

    private static final int FRAMES_TO_REUSE = 2 * FRAMES_TO_PUT_BACK;

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

    /**
     * Requires enough to begin a use of an idle permit, or to put it back.
     *
     * @throws StackOverflowError when there is too little; nothing was done
     */
    public static void requireToReuse() {
        require(FRAMES_TO_REUSE);
    }

    /**
     * Requires enough to put a reused permit back where the caller has too little stack for what it does next.
     *
     * @throws StackOverflowError when there is too little; nothing was done
     */
    public static void requireToPutBack() {
        require(FRAMES_TO_PUT_BACK);
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
        long unused = reserve(frames);
    }

    /**
     * Takes stack, in compiled code by the space for the arguments of {@link #pass}, which only the last frame writes to, and in
     * interpreted code by the local variables.
     */
    @SuppressWarnings("UnusedVariable")
    private static long reserve(int frames) {
        long a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x;
        if (frames > 0) {
            return reserve(frames - 1) + 1;
        }
        return pass(3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24);
    }

    /** Passes its arguments on, to itself: HotSpot inlines one level of a recursion, so that calls remain. */
    @SuppressWarnings("TooManyParameters")
    private static long pass(
            int levels,
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
        return levels == 0
                ? a
                : a + pass(levels - 1, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, a);
    }
}
