package io.dbsemaphore.persistence.unit;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** The tables of the library, without a prefix. */
public enum TableName {
    SEMAPHORE("select, insert, update"),
    PERMIT_REQUEST("select, insert, update"),
    PERMIT("select, insert, update"),
    SEMAPHORE_INSTANCE("select, insert, update"),
    SEMAPHORE_WAITER("select, insert, update, delete"),
    SEMAPHORE_SHARE("select, insert, update, delete"),
    CAPACITY_CHANGE("select, insert");

    /** The privileges that acquires, releases and heartbeats need. */
    final String privileges;

    TableName(String privileges) {
        this.privileges = privileges;
    }

    /** Formats a text for each table, with the table's name ({@code %1$s}) and privileges ({@code %2$s}). */
    public static String each(String text, String separator) {
        return Arrays.stream(values())
                .map(table -> text.formatted(table.name().toLowerCase(Locale.ROOT), table.privileges))
                .collect(Collectors.joining(separator));
    }
}
