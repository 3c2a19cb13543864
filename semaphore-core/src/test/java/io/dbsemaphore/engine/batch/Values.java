package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.FairQueuing;
import io.dbsemaphore.domain.PolledAvailability;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.domain.WaitersElsewhere;
import java.time.LocalDateTime;

/** Values as the transactions return them where no other instance has waiting callers. */
final class Values {

    /** This instance, whose callers are served in the order of all instances. */
    static final FairQueuing FAIR = new FairQueuing(1, "test", name -> true);

    static final LocalDateTime NOW = LocalDateTime.of(2030, 1, 1, 0, 0);

    private Values() {}

    static PolledAvailability polled(int capacity, long held, long available, long fence) {
        return polled(capacity, held, available, fence, NOW);
    }

    static PolledAvailability polled(int capacity, long held, long available, long fence, LocalDateTime now) {
        return new PolledAvailability(capacity, held, available, fence, now, WaitersElsewhere.NONE, true);
    }

    static RemainingAvailability remaining(int capacity, long held, long available, long fenceBefore, long fence) {
        return new RemainingAvailability(capacity, held, available, fenceBefore, fence, NOW, WaitersElsewhere.NONE);
    }
}
