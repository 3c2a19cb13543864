package io.dbsemaphore.engine.fairness;

import io.dbsemaphore.testing.TestDatabase.Schema;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * Finds out for how long permits were available for the first waiting call and were not granted. It looks every 10 ms, and counts
 * 10 ms for each look, however long it took: where the machine or the database is slow, all the rest is, too.
 */
final class UnusedPermits {

    private static final Duration INTERVAL = Duration.ofMillis(10);

    private final Schema schema;
    private final Set<String> names;
    private final WaitingCalls calls;
    private final Map<String, Row> last = new HashMap<>();
    private final Map<String, Duration> unused = new HashMap<>();
    private Duration longest = Duration.ZERO;
    private String worst = "";

    /** What is known of a semaphore. */
    record Row(int capacity, long fence, long held, int departures) {

        boolean fits(int permits) {
            return held + permits <= capacity;
        }

        private boolean isUnchanged(Row before) {
            return fence == before.fence && departures == before.departures;
        }
    }

    UnusedPermits(Schema schema, Set<String> names, WaitingCalls calls) {
        this.schema = schema;
        this.names = names;
        this.calls = calls;
    }

    /** Looks once, and pauses. */
    void look() {
        List<WaitingCalls.Call> before = calls.now();
        Map<String, Row> rows = read();
        rows.forEach((name, row) -> {
            if (row.held() > row.capacity()) {
                throw new AssertionError("Over capacity: " + name + " " + row);
            }
            List<WaitingCalls.Call> servable = calls.servable(name, before, rows);
            Row previous = last.put(name, row);
            boolean goesOn = previous != null && row.isUnchanged(previous) && !servable.isEmpty();
            Duration time = goesOn ? unused.getOrDefault(name, Duration.ZERO).plus(INTERVAL) : Duration.ZERO;
            unused.put(name, time);
            if (time.compareTo(longest) > 0) {
                longest = time;
                worst = name + " " + row + ": " + servable;
            }
        });
        LockSupport.parkNanos(INTERVAL.toNanos());
    }

    private Map<String, Row> read() {
        return schema
                .jdbc()
                .query(
                        """
                        select s.name, s.capacity, s.fence, coalesce(sum(p.count), 0)
                        from semaphore s left join permit p on p.semaphore_id = s.id and p.state = 'ACQUIRED'
                        group by s.name, s.capacity, s.fence""",
                        (row, number) -> Map.entry(
                                row.getString(1),
                                new Row(
                                        row.getInt(2),
                                        row.getLong(3),
                                        row.getLong(4),
                                        calls.departuresFrom(row.getString(1)))))
                .stream()
                .filter(each -> names.contains(each.getKey()))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    /** The longest time. */
    Duration longest() {
        return longest;
    }

    @Override
    public String toString() {
        return longest + ", " + worst;
    }
}
