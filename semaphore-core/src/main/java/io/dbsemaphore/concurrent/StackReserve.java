package io.dbsemaphore.concurrent;

/**
 * Finds out whether the calling thread has enough stack left for an acquire or a release. A {@link StackOverflowError} in the
 * middle of one would leave shared queues and connections in an inconsistent state. It therefore has to be thrown before.
 *
 * <p>The check takes the stack that it asks for, before every acquire and release, so it should be fast and should not evict
 * other data from the processor's caches. Its frames are large, and are hardly written to.
 */
public final class StackReserve {

    /** All zero. No compiler knows that: they are read, and needed after a call. */
    private static final long[] VALUES = new long[120];

    /**
     * What it takes to queue work, to wait for the answer, and to give back a grant that comes too late. Interpreted, 18 frames
     * were too few, 36 were enough. A frame is 1.1 kB in compiled code and 2.2 kB interpreted.
     */
    private static final int FRAMES_TO_WAIT = 54;

    /** What it takes to put a reused permit back. Little, since there may be millions of uses in a second. */
    private static final int FRAMES_TO_PUT_BACK = 4;

    private static final int FRAMES_TO_REUSE = 2 * FRAMES_TO_PUT_BACK;

    /**
     * In compiled code about ten times the stack that an acquire takes. Interpreted code, and Hibernate where the driver sends
     * statements one by one, take more.
     */
    private static final int FRAMES_FOR_DATABASE = 120;

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
     * Takes stack by frames that are large because of the last one: if its call returned another number than 0, it would need
     * 120 local variables after it. All others hardly write to theirs. The method is too long for HotSpot to inline it into
     * itself, and the argument of the last call is not known to any compiler.
     */
    private static long reserve(int frames) {
        if (frames != 1) {
            return frames == 0 ? 0 : reserve(frames - 1);
        }
        long[] v = VALUES;
        // spotless:off
        long a0 = v[0], a1 = v[1], a2 = v[2], a3 = v[3], a4 = v[4], a5 = v[5], a6 = v[6], a7 = v[7], a8 = v[8], a9 = v[9];
        long b0 = v[10], b1 = v[11], b2 = v[12], b3 = v[13], b4 = v[14], b5 = v[15], b6 = v[16], b7 = v[17], b8 = v[18], b9 = v[19];
        long c0 = v[20], c1 = v[21], c2 = v[22], c3 = v[23], c4 = v[24], c5 = v[25], c6 = v[26], c7 = v[27], c8 = v[28], c9 = v[29];
        long d0 = v[30], d1 = v[31], d2 = v[32], d3 = v[33], d4 = v[34], d5 = v[35], d6 = v[36], d7 = v[37], d8 = v[38], d9 = v[39];
        long e0 = v[40], e1 = v[41], e2 = v[42], e3 = v[43], e4 = v[44], e5 = v[45], e6 = v[46], e7 = v[47], e8 = v[48], e9 = v[49];
        long f0 = v[50], f1 = v[51], f2 = v[52], f3 = v[53], f4 = v[54], f5 = v[55], f6 = v[56], f7 = v[57], f8 = v[58], f9 = v[59];
        long g0 = v[60], g1 = v[61], g2 = v[62], g3 = v[63], g4 = v[64], g5 = v[65], g6 = v[66], g7 = v[67], g8 = v[68], g9 = v[69];
        long h0 = v[70], h1 = v[71], h2 = v[72], h3 = v[73], h4 = v[74], h5 = v[75], h6 = v[76], h7 = v[77], h8 = v[78], h9 = v[79];
        long i0 = v[80], i1 = v[81], i2 = v[82], i3 = v[83], i4 = v[84], i5 = v[85], i6 = v[86], i7 = v[87], i8 = v[88], i9 = v[89];
        long j0 = v[90], j1 = v[91], j2 = v[92], j3 = v[93], j4 = v[94], j5 = v[95], j6 = v[96], j7 = v[97], j8 = v[98], j9 = v[99];
        long k0 = v[100], k1 = v[101], k2 = v[102], k3 = v[103], k4 = v[104], k5 = v[105], k6 = v[106], k7 = v[107], k8 = v[108], k9 = v[109];
        long l0 = v[110], l1 = v[111], l2 = v[112], l3 = v[113], l4 = v[114], l5 = v[115], l6 = v[116], l7 = v[117], l8 = v[118], l9 = v[119];
        return reserve((int) a0) == 0
                ? 0
                : a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9
                + b0 + b1 + b2 + b3 + b4 + b5 + b6 + b7 + b8 + b9
                + c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7 + c8 + c9
                + d0 + d1 + d2 + d3 + d4 + d5 + d6 + d7 + d8 + d9
                + e0 + e1 + e2 + e3 + e4 + e5 + e6 + e7 + e8 + e9
                + f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8 + f9
                + g0 + g1 + g2 + g3 + g4 + g5 + g6 + g7 + g8 + g9
                + h0 + h1 + h2 + h3 + h4 + h5 + h6 + h7 + h8 + h9
                + i0 + i1 + i2 + i3 + i4 + i5 + i6 + i7 + i8 + i9
                + j0 + j1 + j2 + j3 + j4 + j5 + j6 + j7 + j8 + j9
                + k0 + k1 + k2 + k3 + k4 + k5 + k6 + k7 + k8 + k9
                + l0 + l1 + l2 + l3 + l4 + l5 + l6 + l7 + l8 + l9;
        // spotless:on
    }
}
