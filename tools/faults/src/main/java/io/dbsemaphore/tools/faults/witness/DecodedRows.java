package io.dbsemaphore.tools.faults.witness;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The rows of permits as PostgreSQL's {@code test_decoding} tells of them, such as {@code INSERT: id[bigint]:1 state[character
 * varying]:'RELEASED'}. An update tells the new row, a deletion the primary key, so the rows are remembered.
 */
final class DecodedRows {

    private record Permit(long semaphore, long count, String state) {}

    private static final Pattern COLUMN =
            Pattern.compile("\"?([\\w]+)\"?\\[([^\\[\\]]*(?:\\[])?)]:('(?:[^']|'')*'|\\S+) ?");
    private static final String NEW_ROW = "new-tuple: ";

    private final HeldPermits held;
    private final Map<Long, Permit> permits = new HashMap<>();

    DecodedRows(HeldPermits held) {
        this.held = held;
    }

    /** A row of permits is inserted, updated or deleted. */
    void permit(String change) {
        Map<String, String> row = columns(change);
        long id = number(row, "id");
        @Nullable Permit before = permits.remove(id);
        if (before != null) {
            held.removed(before.semaphore, before.count, before.state);
        }
        if (!change.startsWith("DELETE")) {
            Permit now = new Permit(number(row, "semaphore_id"), number(row, "count"), value(row, "state"));
            held.added(now.semaphore, now.count, now.state);
            permits.put(id, now);
        }
    }

    /** A row of semaphores is inserted, updated or deleted. */
    void semaphore(String change) {
        if (!change.startsWith("DELETE")) {
            Map<String, String> row = columns(change);
            held.semaphore(number(row, "id"), value(row, "name"), (int) number(row, "capacity"));
        }
    }

    void committed(String position) {
        held.committed(position);
    }

    private static Map<String, String> columns(String change) {
        int begin = change.indexOf(NEW_ROW);
        Matcher column = COLUMN.matcher(begin < 0 ? change : change.substring(begin + NEW_ROW.length()));
        Map<String, String> columns = new HashMap<>();
        while (column.find()) {
            String value = column.group(3);
            boolean quoted = value.startsWith("'");
            columns.put(
                    column.group(1),
                    quoted ? value.substring(1, value.length() - 1).replace("''", "'") : value);
        }
        return columns;
    }

    private static long number(Map<String, String> row, String column) {
        return Long.parseLong(value(row, column));
    }

    private static String value(Map<String, String> row, String column) {
        @Nullable String value = row.get(column);
        if (value == null) {
            throw new IllegalStateException("No column " + column + " in " + row);
        }
        return value;
    }
}
