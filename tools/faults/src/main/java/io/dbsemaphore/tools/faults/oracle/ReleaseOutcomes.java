package io.dbsemaphore.tools.faults.oracle;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Counts releases that were told as done although the only permit of the semaphore had been granted to another before they began.
 * That breaks no promise about permits, but the caller is told too much: it may happen where the answer to the first attempt of
 * the release was lost, so that the second cannot know who released the permit.
 */
final class ReleaseOutcomes implements Check {

    private final Map<String, Integer> capacities;
    private final Map<String, Long> highest = new HashMap<>();
    private final Map<Hold, Boolean> overtaken = new HashMap<>();
    private long overstated;

    ReleaseOutcomes(Map<String, Integer> capacities) {
        this.capacities = capacities;
    }

    @Override
    public void accept(Event event, @Nullable Hold hold) {
        if (hold == null || !hold.granted || !isOfOne(hold)) {
            return;
        }
        String name = hold.permits.keySet().iterator().next();
        long token = hold.tokens.getOrDefault(name, 0L);
        switch (event.kind()) {
            case GRANTED -> highest.merge(name, token, Math::max);
            case RELEASING -> overtaken.put(hold, highest.getOrDefault(name, 0L) > token);
            case RELEASED -> {
                if (event.detail().equals(Event.RELEASED) && overtaken.getOrDefault(hold, false)) {
                    overstated++;
                }
            }
            default -> {}
        }
    }

    @Override
    public void ended(Hold hold) {
        overtaken.remove(hold);
    }

    private boolean isOfOne(Hold hold) {
        return hold.permits.size() == 1
                && capacities.getOrDefault(hold.permits.keySet().iterator().next(), 0) == 1;
    }

    long overstated() {
        return overstated;
    }
}
