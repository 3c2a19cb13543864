package io.dbsemaphore.domain;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The orders that one transaction decides, each with its outcome as soon as it has one. */
public final class BatchOutcomes {

    private final List<AcquireCommand> commands;
    private final Map<AcquireCommand, GrantOutcome> outcomes = new LinkedHashMap<>();

    public BatchOutcomes(List<AcquireCommand> commands) {
        this.commands = commands;
    }

    /** The orders without an outcome, in the order in which they came. */
    public List<AcquireCommand> open() {
        return commands.stream()
                .filter(command -> !outcomes.containsKey(command))
                .toList();
    }

    /** The names that open orders ask for. */
    public SortedSet<String> openNames() {
        TreeSet<String> names = new TreeSet<>();
        open().forEach(command -> names.addAll(command.permits().keySet()));
        return names;
    }

    /** Settles those open orders for which there is an outcome. */
    public void settleAll(Function<AcquireCommand, @Nullable GrantOutcome> outcome) {
        for (AcquireCommand command : open()) {
            GrantOutcome settled = outcome.apply(command);
            if (settled != null) {
                settle(command, settled);
            }
        }
    }

    public void settle(AcquireCommand command, GrantOutcome outcome) {
        if (outcomes.put(command, outcome) != null) {
            throw new IllegalStateException("Decided twice: " + command.externalId());
        }
    }

    /** The outcomes, in the order of the orders. */
    public List<GrantOutcome> outcomes() {
        List<GrantOutcome> result = new ArrayList<>();
        for (AcquireCommand command : commands) {
            GrantOutcome outcome = outcomes.get(command);
            if (outcome == null) {
                throw new IllegalStateException("Not decided: " + command.externalId());
            }
            result.add(outcome);
        }
        return result;
    }
}
