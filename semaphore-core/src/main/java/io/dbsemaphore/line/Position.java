package io.dbsemaphore.line;

/**
 * Where a caller stands.
 *
 * @param place the place in the order of all instances' callers; of a caller that has not waited, it is not final
 * @param hasWaited whether the caller waits in the line, or has waited
 */
public record Position(Arrival arrival, Place place, boolean hasWaited) {

    /** The position of a caller that comes. */
    public static Position of(Arrival arrival) {
        return new Position(arrival, Places.ofNewcomer(arrival), false);
    }

    /** The position when the arrival is known better. A caller that has waited keeps its place. */
    public Position with(Arrival known) {
        return hasWaited ? new Position(known, place, true) : of(known);
    }

    /** The position of a caller that is refused: it waits from now on. */
    public Position refused(Places places) {
        return hasWaited ? this : new Position(arrival, places.of(arrival), true);
    }

    /** The position of a caller that waits from now on, without having been tried. */
    public Position joined() {
        return new Position(arrival, place, true);
    }

    /** The place from which it is decided whether the caller may go: behind all who wait, unless it waits itself. */
    public Place standsAt() {
        return hasWaited ? place : Place.LAST;
    }
}
