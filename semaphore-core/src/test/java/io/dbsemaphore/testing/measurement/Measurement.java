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

    /** Whether a test has failed since its measurement missed its bar. */
    public static boolean isMissedBar(Throwable failure) {
        return failure instanceof MissedBarError;
    }

    /** A measurement has missed its bar. */
    static final class MissedBarError extends AssertionError {

        private static final long serialVersionUID = 1;

        MissedBarError(AssertionError missed) {
            super(missed.getMessage(), missed);
        }
    }
}
