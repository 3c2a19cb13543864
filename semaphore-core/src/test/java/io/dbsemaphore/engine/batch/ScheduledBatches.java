package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.persistence.unit.UnknownCommits;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessResourceFailureException;

/** The batches of a schedule: takes them, decides them in the database, ends them or has them fail, and releases their grants. */
final class ScheduledBatches {

    private final WorkQueue queue;
    private final ModelDatabase database;
    private final ModelParticipants participants;
    private final QueueModel model;
    private final List<AcquireCommand> granted = new ArrayList<>();
    private final List<AcquireCommand> toRelease = new ArrayList<>();

    ScheduledBatches(WorkQueue queue, ModelDatabase database, ModelParticipants participants, QueueModel model) {
        this.queue = queue;
        this.database = database;
        this.participants = participants;
        this.model = model;
    }

    String take(Random choice) {
        boolean withKeptAlive = choice.nextInt(5) > 0;
        if (participants.flights().size() >= 3) {
            return "-";
        }
        return take(withKeptAlive, choice.nextInt(3) == 0);
    }

    String take(boolean withKeptAlive, boolean takesReleases) {
        ModelFlight flight = model.take(withKeptAlive, takesReleases);
        return "takes " + flight + model.members(flight.batch);
    }

    String decide(@Nullable ModelFlight flight) {
        if (flight == null || database.isBlocked(flight.batch.awaited())) {
            return "-";
        }
        if (!flight.batch.awaitsRow()) {
            releaseAll();
        }
        BatchResult result = database.decide(
                List.copyOf(flight.batch.members()), flight.batch.queues(), flight.batch.startedAt() + 700);
        flight.decided(result, database.newlyGranted(), database.told());
        model.decided(flight);
        return "decides " + flight;
    }

    String finish(@Nullable ModelFlight flight) {
        if (flight == null) {
            return "-";
        }
        BatchResult result = flight.result();
        participants.flights().remove(flight);
        Settlement.Result settled = queue.finish(flight.batch, result, 0);
        model.finished(flight, settled);
        for (int i = 0; i < result.outcomes().size(); i++) {
            Acquire member = flight.batch.members().get(i);
            if (result.outcomes().get(i) instanceof GrantOutcome.Granted
                    && settled.acquires().containsKey(member)
                    && !member.isAbandoned()) {
                granted.add(member.command());
            }
        }
        settled.toUndo().forEach(database::undo);
        return "ends " + flight;
    }

    String fail(Random choice) {
        ModelFlight flight = participants.flight(choice, choice.nextInt(3) == 0);
        if (flight == null) {
            return participants.flights().size() < 3
                    ? fail(model.take(true, false), new DataAccessResourceFailureException("No session"), false)
                    : "-";
        }
        return fail(flight, flight.isDecided() ? failedCommit(flight, choice) : failure(flight, choice), true);
    }

    private RuntimeException failedCommit(ModelFlight flight, Random choice) {
        if (choice.nextBoolean()) {
            flight.grants.forEach(database::release);
        }
        return choice.nextInt(4) == 0 ? UnknownCommits.brokenByAnError() : UnknownCommits.unanswered();
    }

    private static RuntimeException failure(ModelFlight flight, Random choice) {
        if (choice.nextBoolean()) {
            flight.batch.members().forEach(member -> member.claim());
        }
        return switch (choice.nextInt(3)) {
            case 0 -> new CannotAcquireLockException("Deadlock", new SQLException("deadlock", "40001", 1213));
            case 1 -> new DataAccessResourceFailureException("Broken", new SQLException("broken", "08S01"));
            default -> new IllegalArgumentException("Something of one member");
        };
    }

    private String fail(ModelFlight flight, RuntimeException failure, boolean reached) {
        participants.flights().remove(flight);
        Settlement.Result settled = queue.finishFailed(flight.batch, failure, reached);
        model.failed(flight, settled, failure);
        settled.toUndo().forEach(database::undo);
        return "fails by " + failure.getClass().getSimpleName() + ": " + flight;
    }

    String release(Random choice) {
        if (granted.isEmpty()) {
            return "-";
        }
        AcquireCommand command = granted.remove(choice.nextInt(granted.size()));
        Map<String, Integer> counts = database.counts(command);
        if (choice.nextInt(3) == 0) {
            toRelease.add(command);
        } else {
            database.release(command);
        }
        counts.forEach(model.waiters()::changed);
        boolean woken = queue.released(counts);
        return "releases " + counts + ", somebody is woken: " + woken;
    }

    /** What the next transaction would release. */
    void releaseAll() {
        toRelease.forEach(database::release);
        toRelease.clear();
    }

    boolean areAllReleased() {
        return granted.isEmpty();
    }
}
