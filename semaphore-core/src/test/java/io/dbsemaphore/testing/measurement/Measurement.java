package io.dbsemaphore.testing.measurement;

/** What a {@link Measured} test has measured. */
public final class Measurement {

    private Measurement() {}

    /**
     * Checks what was measured, as the last assertion of its test.
     *
     * @param assertions throw an {@link AssertionError} if a bar was missed
     */
    public static void check(Runnable assertions) {
        try {
            assertions.run();
        } catch (AssertionError missed) {
            throw new MissedBarError(missed);
        }
    }

    /** An error for what did not happen in time: the test is run again, unlike one whose assertion has failed. */
    public static AssertionError late(String what) {
        return new MissedBarError(what);
    }

    /** Whether a test has failed since its measurement missed its bar. */
    public static boolean isMissedBar(Throwable failure) {
        return failure instanceof MissedBarError;
    }

    /** A measurement has missed its bar. */
    static final class MissedBarError extends AssertionError {

        private static final long serialVersionUID = 1;

        MissedBarError(String what) {
            super(what);
        }

        MissedBarError(AssertionError missed) {
            super(missed.getMessage(), missed);
        }
    }
}
