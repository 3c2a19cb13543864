package io.dbsemaphore.line;

/**
 * The line of callers for one semaphore, as seen from one place in it.
 *
 * @param here the permits that callers of this instance ahead of the place wait for
 * @param elsewhere the callers that wait in other instances
 * @param place the place
 * @param isWindowOpen whether permits are withheld for callers of {@linkplain ReservationWindow several} semaphores
 */
public record LineAhead(Demand here, WaitersElsewhere elsewhere, Place place, boolean isWindowOpen) {

    /** The number of permits that are withheld from a caller at this place, for callers ahead of it. */
    public long withheld(int capacity) {
        return here.withheld(isWindowOpen)
                + (elsewhere.isEmpty() ? 0 : elsewhere.withheldAhead(place, capacity, isWindowOpen));
    }

    /** The number of callers that are known to be ahead. */
    public long callers() {
        return here.callers() + elsewhere.callersAhead(place);
    }

    /** Whether more callers may be ahead than {@link #callers} counts. */
    public boolean mayMoreBeAhead() {
        return elsewhere.mayMoreBeAhead(place);
    }

    /** The number of permits that are withheld from a caller behind this place, where a caller with this ask waits. */
    public long withheldBehind(int capacity, Ask ask, boolean ofSeveral) {
        return withheld(capacity) + (isWindowOpen || !ofSeveral ? ask.permits(capacity) : 0);
    }
}
