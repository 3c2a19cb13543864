package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.engine.batch.Acquire.Stage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The callers of a schedule, and its batches in flight. */
final class ModelParticipants {

    private final List<ModelCaller> callers = new ArrayList<>();
    private final List<ModelFlight> flights = new ArrayList<>();
    private final ModelDatabase database;
    private int numbers;

    ModelParticipants(ModelDatabase database) {
        this.database = database;
    }

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
        callersAt(Stage.LINE).forEach(each -> all.put(each, askedBy(each)));
        return all;
    }

    /** How many permits of which semaphores a caller asks for. */
    Map<String, Long> askedBy(ModelCaller caller) {
        Map<String, Long> asked = new TreeMap<>();
        AcquireCommand command = caller.state().command();
        command.permits()
                .forEach((name, count) ->
                        asked.put(name, (long) (command.exclusive() ? database.capacity(name) : count)));
        return asked;
    }

    int capacity(String name) {
        return database.capacity(name);
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
