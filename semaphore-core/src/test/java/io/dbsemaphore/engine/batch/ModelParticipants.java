package io.dbsemaphore.engine.batch;

import io.dbsemaphore.engine.batch.Acquire.Stage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** The callers of a schedule, and its batches in flight. */
final class ModelParticipants {

    private final List<ModelCaller> callers = new ArrayList<>();
    private final List<ModelFlight> flights = new ArrayList<>();
    private int numbers;

    int nextNumber() {
        return ++numbers;
    }

    List<ModelCaller> callers() {
        return callers;
    }

    List<ModelCaller> callersAt(Stage place) {
        return callers.stream().filter(each -> each.stage() == place).toList();
    }

    ModelCaller callerOf(Acquire acquire) {
        return callers.stream()
                .filter(each -> each.acquire == acquire)
                .findFirst()
                .orElseThrow();
    }

    List<ModelCaller> outstanding() {
        return callers.stream().filter(ModelCaller::isOutstanding).toList();
    }

    /** One that was not answered. */
    @Nullable ModelCaller caller(Random choice) {
        return any(callers.stream().filter(each -> each.answers == 0).toList(), choice);
    }

    /** Who waits, and for how many permits of which semaphores. */
    Map<ModelCaller, Map<String, Long>> waiting() {
        Map<ModelCaller, Map<String, Long>> all = new LinkedHashMap<>();
        callersAt(Stage.WAIT_QUEUE).forEach(each -> all.put(each, Map.copyOf(each.acquire.queuedFor())));
        return all;
    }

    List<ModelFlight> flights() {
        return flights;
    }

    @Nullable ModelFlight flight(Random choice, boolean decided) {
        return any(flights.stream().filter(each -> each.isDecided() == decided).toList(), choice);
    }

    private static <T> @Nullable T any(List<T> some, Random choice) {
        return some.isEmpty() ? null : some.get(choice.nextInt(some.size()));
    }
}
