package io.dbsemaphore.line;

/**
 * The permits of one semaphore that callers wait for.
 *
 * @param permits the number for all callers
 * @param ofSeveral the number for those callers that wait for several semaphores
 * @param callers the number of callers
 */
public record Demand(long permits, long ofSeveral, int callers) {

    public static final Demand NONE = new Demand(0, 0, 0);

    /** The number of permits withheld for these callers from later ones. */
    public long withheld(boolean isWindowOpen) {
        return isWindowOpen ? permits : permits - ofSeveral;
    }
}
