package io.dbsemaphore.test;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The callers of a queue, each in its turn.
 *
 * <p>Where a caller with a share waits for a semaphore, the callers that wait for this semaphore alone are served by its {@link Turns}.
 * Callers of several semaphores stand behind them. Where nobody has a share, the order is that of the queue. A caller that does not wait
 * stands behind all.
 */
final class Line {

    private final Function<String, Turns> turns;

    /** The callers that are served by turns, by semaphore. */
    private final Map<String, List<Caller>> byTurns = new LinkedHashMap<>();

    private final Deque<Caller> others = new ArrayDeque<>();

    /**
     * Begins with all callers.
     *
     * @param queue the callers in the order of arrival less head starts, then the one that does not wait
     * @param turns the turns of each semaphore
     */
    Line(List<Caller> queue, Ledger ledger, Function<String, Turns> turns) {
        this.turns = turns;
        Set<String> shared = queue.stream()
                .filter(caller -> caller.waits() && !caller.share().isEmpty())
                .flatMap(caller -> caller.request().permits().keySet().stream())
                .filter(ledger.capacities::containsKey) // a pattern may create the others
                .collect(Collectors.toSet());
        for (Caller caller : queue) {
            Set<String> names = caller.request().permits().keySet();
            if (caller.waits() && names.size() == 1 && shared.containsAll(names)) {
                byTurns.computeIfAbsent(names.iterator().next(), unused -> new ArrayList<>())
                        .add(caller);
            } else {
                others.add(caller);
            }
        }
    }

    /** The whole queue, as it is served if each caller is granted its permits in its turn. */
    static List<Caller> order(List<Caller> queue, Ledger ledger) {
        Map<String, Turns> turns = new HashMap<>();
        Line line = new Line(
                queue,
                ledger,
                name -> turns.computeIfAbsent(name, unused -> ledger.turns(name).copy()));
        List<Caller> order = new ArrayList<>();
        while (!line.isEmpty()) {
            Caller next = line.removeNext();
            turns.forEach((name, each) -> {
                if (next.request().permits().containsKey(name)) {
                    each.granted(next.share(), ledger.countOf(name, next.request()));
                }
            });
            order.add(next);
        }
        return order;
    }

    boolean isEmpty() {
        return byTurns.isEmpty() && others.isEmpty();
    }

    /** Removes the caller whose turn it is. */
    Caller removeNext() {
        if (byTurns.isEmpty()) {
            return others.remove();
        }
        Map.Entry<String, List<Caller>> first = byTurns.entrySet().iterator().next();
        List<Caller> callers = first.getValue();
        Caller next = callers.remove(turns.apply(first.getKey())
                .next(callers.stream().map(Caller::share).toList()));
        if (callers.isEmpty()) {
            byTurns.remove(first.getKey());
        }
        return next;
    }
}
