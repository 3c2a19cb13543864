package io.dbsemaphore.domain;

/**
 * A semaphore that has too few free permits for the orders of a batch.
 *
 * @param permits how many the refused orders ask for together, and how many are held above a lowered capacity
 * @param held how many are held
 */
public record Shortfall(long semaphoreId, String name, long permits, long held) {

    /** Up to so many holders are read one by one each time; that costs no more than the acquire itself. */
    private static final int FEW = 200;

    /** The same semaphore when one more order asks for so many. */
    Shortfall plus(int requested) {
        return new Shortfall(semaphoreId, name, permits + requested, held);
    }

    /** Whether reading each holder would take noticeably longer than the acquire itself. */
    boolean hasManyHolders() {
        return held > FEW;
    }
}
