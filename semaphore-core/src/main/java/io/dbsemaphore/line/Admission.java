package io.dbsemaphore.line;

/**
 * Whether a caller may have permits of one semaphore. Both ask this: the transaction that grants them, and the queue that decides by
 * its estimate whether that transaction is worth trying. A further condition of a grant belongs here.
 *
 * @param answer of a caller of several semaphores, all must be {@link Answer#NOW}
 * @param missing the number of permits that have to become available first; less than 1 if none
 */
public record Admission(Answer answer, long missing) {

    public enum Answer {
        NOW,
        AFTER_RELEASE,
        /** The caller asks for more than the capacity. */
        NEVER
    }

    /**
     * Decides.
     *
     * @param capacity of the semaphore; 0 if it is paused
     * @param available the number of permits that nobody holds, and that are reserved for nobody; negative if more are held than a lowered
     *     capacity; not positive if it is paused, or held exclusively
     * @param line as seen from the place of the caller
     */
    public static Admission of(int capacity, long available, LineAhead line, Ask ask) {
        long missing = ask.needs(capacity) + line.withheld(capacity) - available;
        if (ask.exceeds(capacity)) {
            return new Admission(Answer.NEVER, missing);
        }
        return new Admission(missing > 0 ? Answer.AFTER_RELEASE : Answer.NOW, missing);
    }

    public boolean isNow() {
        return answer == Answer.NOW;
    }

    public boolean isNever() {
        return answer == Answer.NEVER;
    }
}
