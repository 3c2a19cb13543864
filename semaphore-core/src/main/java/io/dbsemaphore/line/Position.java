package io.dbsemaphore.line;

/**
 * Where a caller stands.
 *
 * @param headStart by how much its place is before its arrival, in microseconds; 0 if it does not wait
 * @param place the place in the order of all instances' callers; not final for a caller that has not waited
 * @param hasWaited whether the caller waits in the line, or has waited
 */
public record Position(Arrival arrival, long headStart, Place place, boolean hasWaited) {

    /** The position of a caller that comes. */
    public static Position of(Arrival arrival, long headStart) {
        return new Position(arrival, headStart, Places.ofNewcomer(arrival, headStart), false);
    }

    /** This position with a more exact arrival. A caller that has waited keeps its place. */
    public Position with(Arrival known) {
        return hasWaited ? new Position(known, headStart, place, true) : of(known, headStart);
    }

    /** The position of a caller that is refused: it waits from now on. */
    public Position refused(Places places) {
        return hasWaited ? this : new Position(arrival, headStart, places.of(arrival, headStart), true);
    }

    /** The position of a caller that waits from now on, without having been tried. */
    public Position joined() {
        return new Position(arrival, headStart, place, true);
    }

    /** Whether the caller stands at its place: it waits, or has a head start. Any other newcomer stands behind all who wait. */
    public boolean isInLine() {
        return hasWaited || (headStart > 0 && arrival.isKnown());
    }

    /** The place by which it is decided whether the caller may go. */
    public Place standsAt() {
        return isInLine() ? place : Place.LAST;
    }
}
