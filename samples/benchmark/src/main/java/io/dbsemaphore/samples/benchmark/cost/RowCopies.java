package io.dbsemaphore.samples.benchmark.cost;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.sql.DataSource;

/**
 * Many requests at once, made by the server: copies of a real one and of its permit, whatever columns they have. The ids
 * of the copies are spread over the week before it, as those of a real history are; their tokens are the next ones, and
 * the semaphore's fence is raised above them.
 */
final class RowCopies {

    private static final int ROWS_PER_STATEMENT = 100_000;
    private static final long ID_PER_MILLISECOND = 1L << 22;
    private static final long MILLIS_OF_A_WEEK = 604_800_000;

    private final DataSource dataSource;
    private final String semaphoreTable;
    private final String requestTable;
    private final String permitTable;

    RowCopies(DataSource dataSource, String tablePrefix) {
        this.dataSource = dataSource;
        this.semaphoreTable = tablePrefix + "semaphore";
        this.requestTable = tablePrefix + "permit_request";
        this.permitTable = tablePrefix + "permit";
    }

    /** Copies what has this external id; on a semaphore that nobody uses meanwhile. */
    Copies copy(String externalId, int count) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            long original =
                    query(statement, "select id from %s where external_id = '%s'".formatted(requestTable, externalId));
            long step = Math.min(MILLIS_OF_A_WEEK / count * ID_PER_MILLISECOND, original / (2L * count));
            long first = original - count * step;
            List<String> requestColumns = columns(connection, requestTable);
            List<String> permitColumns = columns(connection, permitTable);
            for (int from = 0; from < count; from += ROWS_PER_STATEMENT) {
                String numbers = numbers(from, Math.min(count, from + ROWS_PER_STATEMENT));
                statement.executeUpdate(
                        insert(requestTable, requestColumns, requestValues(original, first, step), numbers)
                                + " where t.id = %d order by n".formatted(original));
                statement.executeUpdate(insert(permitTable, permitColumns, permitValues(first, step), numbers)
                        + " where t.permit_request_id = %d order by n".formatted(original));
            }
            statement.executeUpdate("""
                    update %s set fence = fence + %d
                    where id = (select semaphore_id from %s where permit_request_id = %d)""".formatted(semaphoreTable, count, permitTable, original));
            return new Copies(first, original - 1);
        }
    }

    /** Releases them as a release would. */
    void release(Copies copies) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.executeUpdate("update %s set state = 'RELEASED' where id between %d and %d"
                    .formatted(requestTable, copies.firstRequest(), copies.lastRequest()));
            statement.executeUpdate("update %s set state = 'RELEASED' where permit_request_id between %d and %d"
                    .formatted(permitTable, copies.firstRequest(), copies.lastRequest()));
        }
    }

    /** External ids are about as random as real ones, and as long. */
    private static Map<String, String> requestValues(long original, long first, long step) {
        return Map.of(
                "id", "%d + n * %d".formatted(first, step),
                "external_id",
                        "concat(mod((%d + n) * 2654435761, 4294967296), '-copy-of-request-', %d + n)"
                                .formatted(original % 1_000_000, first));
    }

    private static Map<String, String> permitValues(long first, long step) {
        return Map.of(
                "id", "%d + n * %d + 1".formatted(first, step),
                "permit_request_id", "%d + n * %d".formatted(first, step),
                "token", "t.token + 1 + n");
    }

    private static String insert(String table, List<String> columns, Map<String, String> changed, String numbers) {
        return "insert into %1$s (%2$s) select %3$s from %1$s t, (%4$s) numbers"
                .formatted(
                        table,
                        String.join(", ", columns),
                        columns.stream()
                                .map(column -> changed.getOrDefault(column, "t." + column))
                                .collect(Collectors.joining(", ")),
                        numbers);
    }

    private static List<String> columns(Connection connection, String table) throws SQLException {
        List<String> columns = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet none = statement.executeQuery("select * from %s where 1 = 0".formatted(table))) {
            for (int column = 1; column <= none.getMetaData().getColumnCount(); column++) {
                columns.add(none.getMetaData().getColumnName(column).toLowerCase(Locale.ROOT));
            }
        }
        return columns;
    }

    private static long query(Statement statement, String sql) throws SQLException {
        try (ResultSet result = statement.executeQuery(sql)) {
            result.next();
            return result.getLong(1);
        }
    }

    /** The numbers {@code from <= n < to}, as a query: every digit from 0 to 9 with every other. */
    private static String numbers(int from, int to) {
        String digits = IntStream.range(0, 10)
                .mapToObj(digit -> "select %d as d".formatted(digit))
                .collect(Collectors.joining(" union all ", "(", ")"));
        List<String> sum = new ArrayList<>(List.of(Integer.toString(from)));
        List<String> tables = new ArrayList<>();
        for (int place = 1; place < to - from; place *= 10) {
            sum.add("%d * p%d.d".formatted(place, place));
            tables.add("%s p%d".formatted(digits, place));
        }
        if (tables.isEmpty()) {
            return "select %d as n".formatted(from);
        }
        Collections.reverse(tables);
        return "select n from (select %s as n from %s) every where n < %d"
                .formatted(String.join(" + ", sum), String.join(", ", tables), to);
    }

    /** Which requests were made. */
    record Copies(long firstRequest, long lastRequest) {}
}
