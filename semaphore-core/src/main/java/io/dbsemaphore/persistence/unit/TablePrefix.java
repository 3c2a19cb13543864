package io.dbsemaphore.persistence.unit;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Adds the configured prefix to the names in SQL, as the changelog does. */
public final class TablePrefix {

    /** Tables, and what begins with the kind of a constraint or an index. */
    private static final Pattern NAME = Pattern.compile("\\b(semaphore|permit_request|permit|semaphore_instance"
            + "|semaphore_waiter|capacity_change|(?:pk|uq|fk|ix|ck)_\\w+)\\b");

    private TablePrefix() {}

    /** SQL or an SQL script with the prefix before the names of tables, constraints and indexes. */
    public static String addTo(String sql, String prefix) {
        return prefix.isEmpty() ? sql : NAME.matcher(sql).replaceAll(Matcher.quoteReplacement(prefix) + "$1");
    }
}
