package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.line.Waiter;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A batch of a schedule, from the moment it is taken until the queue knows how it ended. */
final class ModelFlight {

    private static final long STALLED_AFTER = Duration.ofMillis(250).toNanos();

    private final int number;
    final Batch batch;
    private final long takenAt;

    /** Who waited when it was taken, and for what. */
    final Map<ModelCaller, Map<String, Long>> waiting;

    private final Map<String, Long> changes = new HashMap<>();
    private @Nullable BatchResult result;
    List<AcquireCommand> grants = List.of();

    /** Which refused callers other instances were told of, by semaphore. */
    Map<String, List<Waiter>> told = Map.of();

    ModelFlight(int number, Batch batch, long takenAt, Map<ModelCaller, Map<String, Long>> waiting) {
        this.number = number;
        this.batch = batch;
        this.takenAt = takenAt;
        this.waiting = waiting;
    }

    void decided(BatchResult decision, List<AcquireCommand> newGrants, Map<String, List<Waiter>> toldOf) {
        told = toldOf;
        result = decision;
        grants = newGrants;
    }

    boolean isDecided() {
        return result != null;
    }

    BatchResult result() {
        return Objects.requireNonNull(result);
    }

    /** So many permits were released, or promised to a caller, since it was taken. */
    void changed(String name, long permits) {
        if (batch.names().contains(name)) {
            changes.merge(name, permits, Long::sum);
        }
    }

    long changes(String name) {
        return changes.getOrDefault(name, 0L);
    }

    boolean isStalledOver(String name, long now) {
        return batch.names().contains(name) && now - takenAt > STALLED_AFTER;
    }

    /** No other batch may have this name. */
    boolean keeps(String name, long now) {
        return batch.names().contains(name)
                && (batch.awaited().isEmpty() || batch.awaited().contains(name) || !isStalledOver(name, now));
    }

    @Override
    public String toString() {
        return "batch " + number + (batch.awaitsRow() ? " waiting for " + batch.awaited() : "")
                + (result == null
                        ? ""
                        : result.outcomes().stream()
                                .map(outcome -> outcome.getClass().getSimpleName())
                                .toList());
    }
}
