package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.OwnLines;
import io.dbsemaphore.line.Place;
import io.dbsemaphore.line.Places;
import io.dbsemaphore.line.RecordedHead;
import io.dbsemaphore.line.Waiter;
import io.dbsemaphore.line.WaitersElsewhere;
import java.time.LocalDateTime;
import java.util.List;
import java.util.stream.IntStream;

/** Values as the transactions return them where no other instance has waiting callers. */
final class Values {

    /** This instance, whose callers are served in the order of all instances. */
    static final OwnLines FAIR = new OwnLines(() -> 1, "test", name -> true);

    static final LocalDateTime NOW = LocalDateTime.of(2030, 1, 1, 0, 0);

    private Values() {}

    static RemainingAvailability polled(int capacity, long held, long available, long fence) {
        return polled(capacity, held, available, fence, NOW);
    }

    static RemainingAvailability polled(int capacity, long held, long available, long fence, LocalDateTime now) {
        return new RemainingAvailability(capacity, held, available, fence, fence, now, WaitersElsewhere.NONE, true);
    }

    static RemainingAvailability remaining(int capacity, long held, long available, long fenceBefore, long fence) {
        return new RemainingAvailability(
                capacity, held, available, fenceBefore, fence, NOW, WaitersElsewhere.NONE, true);
    }

    /** So many of 4 permits are left. So many other instances have a caller each that came just before, and lacks one permit. */
    static RemainingAvailability left(int free, LocalDateTime readAt, int instancesAhead) {
        Waiter earlier = new Waiter(Places.at(Place.micros(readAt) - 1), Ask.of(1), false);
        List<RecordedHead> others = IntStream.range(0, instancesAhead)
                .mapToObj(i -> new RecordedHead(1, 2L + i, List.of(earlier), 1, readAt.plusSeconds(1)))
                .toList();
        return new RemainingAvailability(
                4, 4 - free, free, 7, 7, readAt, WaitersElsewhere.of(others, FAIR.instance(), readAt), true);
    }
}
