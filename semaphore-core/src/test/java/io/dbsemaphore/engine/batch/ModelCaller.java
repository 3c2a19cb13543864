package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.engine.batch.Acquire.Stage;

/** A caller of a schedule, and how it was answered. */
final class ModelCaller {

    private final int number;
    final Acquire acquire;
    int answers;
    int decisions;

    /** It was told that its outcome is unknown. */
    boolean gone;

    ModelCaller(int number, Acquire acquire) {
        this.number = number;
        this.acquire = acquire;
    }

    AcquireState state() {
        return acquire;
    }

    Stage stage() {
        return acquire.stage();
    }

    boolean isOutstanding() {
        return answers == 0 || stage() != Stage.DONE;
    }

    @Override
    public String toString() {
        AcquireCommand command = state().command();
        return "c" + number + command.permits() + (command.isKeptAlive() ? "kept" : "")
                + (acquire.hasWaitTime() ? "" : "!")
                + (acquire.position().headStart() > 0 ? "-" + acquire.position().headStart() : "") + "@" + stage();
    }
}
