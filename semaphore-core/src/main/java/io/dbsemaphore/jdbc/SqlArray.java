package io.dbsemaphore.jdbc;

import java.sql.Array;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An array as a parameter of a statement.
 *
 * @param type the SQL type of its elements
 */
public record SqlArray(String type, Collection<? extends @Nullable Object> elements) {

    private static final Map<Class<?>, String> TYPES =
            Map.of(Long.class, "int8", Integer.class, "int4", String.class, "text", LocalDateTime.class, "timestamp");

    /** Returns the array of these values, all of one type; null if all are null, because the type is then unknown. */
    public static @Nullable SqlArray of(Collection<? extends @Nullable Object> values) {
        return values.stream()
                .filter(Objects::nonNull)
                .findFirst()
                .map(first -> new SqlArray(Objects.requireNonNull(TYPES.get(first.getClass())), values))
                .orElse(null);
    }

    /** Returns the placeholder. It includes the type, because drivers that send values as literals omit it. */
    public String parameter() {
        return "cast(? as " + type + "[])";
    }

    Array create(Connection connection) throws SQLException {
        return connection.createArrayOf(type, elements.toArray());
    }
}
