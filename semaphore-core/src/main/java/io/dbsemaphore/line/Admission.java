package io.dbsemaphore.line;

/**
 * Decides whether a caller may have permits of one semaphore. The transaction that grants them asks this, and so does the queue, which
 * estimates whether that transaction is worth trying. A further condition of a grant belongs here.
 *
 * @param answer the answer; a caller of several semaphores needs {@link Answer#NOW} for all
 * @param missing the number of permits that have to become available first; 0 or less if none
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
     * @param capacity the capacity of the semaphore; 0 if paused
     * @param available the number of permits that are neither held nor reserved; negative if a lowered capacity is exceeded; 0 or less if
     *     the semaphore is paused, or held exclusively
     * @param line the line as seen from the place of the caller
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
