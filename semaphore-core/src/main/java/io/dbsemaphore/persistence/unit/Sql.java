package io.dbsemaphore.persistence.unit;

import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.Sessions;
import io.dbsemaphore.jdbc.SqlArray;
import io.dbsemaphore.jdbc.StatementQueue;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.IncorrectResultSizeDataAccessException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.RowMapperResultSetExtractor;

/**
 * SQL on the connection of the current transaction, for acquires, releases, renewals, waiting callers and the start of an application.
 * It needs no Hibernate. Several statements share a round trip, and an insert may have any number of rows.
 *
 * <p>A statement is written once, for all databases and table prefixes: with the tables' names as in the changelog, and with
 * {@code utc_now()}, {@code utc_plus_millis(…)} and {@code epoch_micros()} for the database's clock. Its tables are looked up in the schema
 * in which they were {@linkplain #locate found}, whatever schema a session is in. Statements of Hibernate are
 * {@linkplain #translated translated} in the same way.
 *
 * <p>If a missing row would mislead the reader of a query, the columns end with {@code all_rows()}: the query then fails if the result was
 * cut. A collection as a value, written {@code in (?)}, becomes as many placeholders as it has elements. On PostgreSQL, two or more
 * elements become one array, and two or more rows of an insert become one array for each column: the text is then the same for every
 * number, and the server parses and plans it once.
 */
public final class Sql {

    private static final Logger log = LoggerFactory.getLogger("io.dbsemaphore.sql");

    /** Reads the ids of rows. */
    public static final RowMapper<Long> ID = (row, number) -> row.getLong(1);

    private static final int MAX_ROWS = 500;
    private static final String VALUES = " values ";
    private static final String IN = "in (";
    private static final String ALL_ROWS = "all_rows()";
    private static final Pattern PLACEHOLDER = Pattern.compile("\\?");
    /** The alias of a lock is removed: SQL filters do not know this syntax, and every lock of the library is on one table. */
    private static final Pattern LOCK_OF_ALIAS = Pattern.compile("( for update) of \\w+");

    /** The names of tables, and names that begin like a constraint or an index. */
    private static final Pattern NAME =
            Pattern.compile("\\b(?:(" + TableName.each("%s", "|") + ")|((?:pk|uq|fk|ix|ck)_\\w+))\\b");

    /** Texts of at least this length are not cached: they depend on the number of rows, so there are too many. */
    private static final int LONG = 8_192;

    private final Sessions sessions;
    private final Database database;
    private final String tablePrefix;
    /** The schema and its separator; empty until the tables have been found. */
    private volatile String qualifier = "";

    private final Map<String, String> cached = new ConcurrentHashMap<>();

    public Sql(Sessions sessions, Database database, String tablePrefix) {
        this.sessions = sessions;
        this.database = database;
        this.tablePrefix = tablePrefix;
    }

    /** Finds the schema of a table in the session of the current transaction. From then on, all statements use this schema. */
    public void locate(String table) {
        if (!qualifier.isEmpty()) {
            return; // a later session may be elsewhere
        }
        List<@Nullable String> schemas =
                read(database.schemaQuery(), (row, number) -> row.getString(1), withPrefix(table, tablePrefix));
        String schema = schemas.isEmpty() ? null : schemas.get(0);
        qualifier = schema == null ? "" : database.quoted(schema) + ".";
        cached.clear();
    }

    /**
     * A number for each row of an update, by the {@code id} of the row. If all are equal, the number is a parameter, so that the text is
     * always the same. Otherwise the numbers are arrays on PostgreSQL, elsewhere literals of a case, because only literals have the
     * column's type.
     */
    public record ById(SortedMap<Long, Long> numbers) {}

    /** Queues a query for the next round trip of the transaction. */
    public <T> Supplier<List<T>> queryRows(String statement, RowMapper<T> row, @Nullable Object... values) {
        Bound bound = bind(statement, values);
        if (!statement.contains(ALL_ROWS)) {
            return queue().query(bound.text(), bound.values(), new RowMapperResultSetExtractor<>(row));
        }
        AtomicLong expected = new AtomicLong();
        Supplier<List<T>> found = queue().query(
                        bound.text(), bound.values(), new RowMapperResultSetExtractor<>((rows, number) -> {
                            expected.accumulateAndGet(
                                    rows.getLong(rows.getMetaData().getColumnCount()), Math::max);
                            return row.mapRow(rows, number);
                        }));
        return () -> {
            if (found.get().size() < expected.get()) {
                throw fewerRows(found.get().size(), Math.toIntExact(expected.get()));
            }
            return found.get();
        };
    }

    /** Returns the exception for a result that was cut. Without it, the missing rows would seem not to exist. */
    public static IncorrectResultSizeDataAccessException fewerRows(int found, int expected) {
        return new IncorrectResultSizeDataAccessException(
                "A query of the semaphores returned %d of the %d rows that the database has: this transaction grants nothing and"
                                .formatted(found, expected)
                        + " takes away nothing. Something between the library and the server limits the rows of a result: remove"
                        + " that limit (maxRows or sql_select_limit in the URL, a DataSource or filter that calls setMaxRows, a rule"
                        + " of a proxy)",
                expected,
                found);
    }

    /** Executes a query, after the queued statements. */
    public <T> List<T> read(String statement, RowMapper<T> row, @Nullable Object... values) {
        Supplier<List<T>> rows = queryRows(statement, row, values);
        flush();
        return rows.get();
    }

    /** Executes an update, after the queued statements, and returns the number of rows. */
    public int execute(String statement, @Nullable Object... values) {
        Supplier<Integer> rows = update(statement, values);
        flush();
        return rows.get();
    }

    /**
     * Queues an update. It is sent with the next round trip of the transaction, at the latest with the commit. The result is the number of
     * rows.
     */
    public Supplier<Integer> update(String statement, @Nullable Object... values) {
        Bound bound = bind(statement, values);
        return queue().update(bound.text(), bound.values());
    }

    /**
     * Queues the insert of rows, many in one statement.
     *
     * @param statement the insert of one row, which ends with {@code values} and the row
     */
    public void insert(String statement, List<List<@Nullable Object>> rows) {
        String text = text(statement);
        String row = text.substring(text.indexOf(VALUES) + VALUES.length());
        for (List<List<@Nullable Object>> some : chunks(rows, MAX_ROWS)) {
            Bound insert = database.hasArrays() && some.size() > 1
                    ? insertOfArrays(text.substring(0, text.indexOf(VALUES)), row, some)
                    : insertOfRows(text, row, some);
            log.debug("{}", insert.text());
            queue().update(insert.text(), insert.values());
        }
    }

    private static Bound insertOfRows(String text, String row, List<List<@Nullable Object>> rows) {
        if (rows.size() == 1) {
            return new Bound(text, rows.get(0));
        }
        List<@Nullable Object> values = new ArrayList<>();
        rows.forEach(values::addAll);
        return new Bound(text + (", " + row).repeat(rows.size() - 1), values);
    }

    /**
     * Rows of values for a query.
     *
     * @param from a table of the rows and a comma, to be followed by another table; empty for one row
     * @param columns their columns in the select list, each to be used once in this order
     */
    public record Rows(String from, List<String> columns, List<@Nullable Object> values) {

        /** Returns the values, followed by those of later parameters. */
        public @Nullable Object[] valuesAnd(Object... more) {
            return Stream.concat(values.stream(), Stream.of(more)).toArray();
        }
    }

    /** Turns rows into one array for each column where the database has arrays, or else into parameters. */
    public Rows rows(List<List<@Nullable Object>> rows) {
        int width = rows.get(0).size();
        List<@Nullable Object> values = new ArrayList<>();
        List<String> columns = new ArrayList<>();
        if (!database.hasArrays()) {
            rows.forEach(values::addAll);
            if (rows.size() == 1) {
                return new Rows("", Collections.nCopies(width, "?"), values);
            }
            for (int column = 1; column <= width; column++) {
                columns.add("v" + column);
            }
            String row = "row(" + String.join(", ", Collections.nCopies(width, "?")) + ")";
            return new Rows(
                    "(values " + String.join(", ", Collections.nCopies(rows.size(), row)) + ") as v("
                            + String.join(", ", columns) + "), ",
                    columns,
                    values);
        }
        List<String> arrays = new ArrayList<>();
        for (int column = 0; column < width; column++) {
            int index = column;
            SqlArray array =
                    SqlArray.of(rows.stream().map(each -> each.get(index)).toList());
            if (array == null) {
                columns.add("null");
            } else {
                values.add(array);
                arrays.add(array.parameter());
                columns.add("v" + arrays.size());
            }
        }
        String names = columns.stream().filter(name -> !name.equals("null")).collect(Collectors.joining(", "));
        return new Rows("unnest(" + String.join(", ", arrays) + ") as v(" + names + "), ", columns, values);
    }

    /** Lets the transaction fail if {@linkplain StatementQueue#expectRejection the next statements are rejected}. */
    public void expectRejection() {
        queue().expectRejection();
    }

    /** Returns how long a round trip takes; 0 while that is unknown. */
    public long nanosOfRoundTrip() {
        return queue().nanosOfRoundTrip();
    }

    /** Builds the insert of rows as one array for each column. A column without values is null in the text, because its type is unknown. */
    private static Bound insertOfArrays(String into, String row, List<List<@Nullable Object>> rows) {
        List<SqlArray> arrays = new ArrayList<>();
        String selected = row.substring(1, row.length() - 1); // without the parentheses
        for (int column = 0; column < rows.get(0).size(); column++) {
            int index = column;
            SqlArray array =
                    SqlArray.of(rows.stream().map(each -> each.get(index)).toList());
            if (array != null) {
                arrays.add(array);
            }
            selected = PLACEHOLDER.matcher(selected).replaceFirst(array == null ? "null" : "v" + arrays.size());
        }
        String parameters = arrays.stream().map(SqlArray::parameter).collect(Collectors.joining(", "));
        String columns = IntStream.rangeClosed(1, arrays.size())
                .mapToObj(number -> "v" + number)
                .collect(Collectors.joining(", "));
        return new Bound(
                "%s select %s from unnest(%s) as v(%s)".formatted(into, selected, parameters, columns),
                List.copyOf(arrays));
    }

    /** Splits values into lists of at most this size, because the number of parameters of a statement is limited. */
    public static <T> List<List<T>> chunks(List<T> values, int max) {
        if (!values.isEmpty() && values.size() <= max) {
            return List.of(values);
        }
        return IntStream.iterate(0, from -> from < values.size(), from -> from + max)
                .mapToObj(from -> values.subList(from, Math.min(from + max, values.size())))
                .toList();
    }

    /** Executes the queued statements. */
    public void flush() {
        try {
            queue().flush();
        } catch (SQLException failure) {
            throw new UncategorizedSQLException("semaphore transaction", null, failure);
        }
    }

    /** Whether all queued statements take one round trip, because the driver pipelines. */
    public boolean isPipelined() {
        return queue().isOneRoundTrip();
    }

    /** Whether a collection of two or more elements becomes one parameter. */
    public boolean hasArrays() {
        return database.hasArrays();
    }

    private StatementQueue queue() {
        return sessions.current().statements();
    }

    /** Adapts a statement that Hibernate is about to send to the database, and logs it. */
    public String translated(String statement) {
        String text = translate(statement);
        log.debug("{}", text);
        return text;
    }

    /** Adapts a statement, except its collections, to the database, and caches the result. */
    public String text(String statement) {
        return cached.computeIfAbsent(statement, this::translate);
    }

    /** Adds the prefix to the names of tables, constraints and indexes in SQL or an SQL script, as the changelog does. */
    public static String withPrefix(String sql, String prefix) {
        return prefix.isEmpty() ? sql : named(sql, "", prefix);
    }

    private static String named(String sql, String qualifier, String prefix) {
        return NAME.matcher(sql)
                .replaceAll(name ->
                        Matcher.quoteReplacement((name.group(1) == null ? "" : qualifier) + prefix) + name.group());
    }

    private String translate(String statement) {
        String text = named(statement.strip().replaceAll("\\s+", " "), qualifier, tablePrefix)
                .replace(ALL_ROWS, "count(*) over ()");
        return LOCK_OF_ALIAS.matcher(database.withClock(text)).replaceAll("$1");
    }

    /** A statement for the database with a placeholder for each of its values. */
    private record Bound(String text, List<? extends @Nullable Object> values) {}

    private Bound bind(String statement, @Nullable Object[] values) {
        String text = statement.length() < LONG ? text(statement) : translate(statement);
        List<@Nullable Object> flat = new ArrayList<>();
        if (addSingle(values, flat)) { // one placeholder each, as in the text
            log.debug("{}", text);
            return new Bound(text, flat);
        }
        flat.clear();
        StringBuilder expanded = new StringBuilder(text.length() + 64);
        int from = 0;
        for (Object value : values) {
            int placeholder = text.indexOf('?', from);
            expanded.append(text, from, placeholder);
            if (value instanceof ById byId) {
                expanded.append(bind(byId.numbers(), flat));
            } else if (value instanceof Collection<?> many) {
                append(many, expanded, flat);
            } else {
                expanded.append('?');
                flat.add(value);
            }
            from = placeholder + 1;
        }
        expanded.append(text, from, text.length());
        log.debug("{}", expanded);
        return new Bound(expanded.toString(), flat);
    }

    /** Adds the values if each is a single one, or a collection of one. */
    private static boolean addSingle(@Nullable Object[] values, List<@Nullable Object> flat) {
        for (Object value : values) {
            if (value instanceof ById byId && byId.numbers().size() == 1) {
                flat.add(byId.numbers().get(byId.numbers().firstKey()));
            } else if (value instanceof Collection<?> many && many.size() == 1) {
                flat.addAll(many);
            } else if (value instanceof ById || value instanceof Collection) {
                return false;
            } else {
                flat.add(value);
            }
        }
        return true;
    }

    /** Appends a list to a text that ends with an opening parenthesis. An empty list, which SQL does not allow, matches nothing. */
    private void append(Collection<?> many, StringBuilder text, List<@Nullable Object> values) {
        SqlArray array = database.hasArrays() && many.size() > 1 ? SqlArray.of(many) : null;
        if (array != null) {
            text.setLength(text.length() - IN.length());
            text.append("= any (").append(array.parameter());
            values.add(array);
        } else {
            text.append(many.isEmpty() ? "null" : String.join(", ", Collections.nCopies(many.size(), "?")));
            values.addAll(many);
        }
    }

    private String bind(SortedMap<Long, Long> numbers, List<@Nullable Object> values) {
        if (Set.copyOf(numbers.values()).size() == 1) {
            values.add(numbers.get(numbers.firstKey()));
            return "?";
        }
        return database.hasArrays()
                ? "(%s)[array_position(%s, id)]"
                        .formatted(bindArray(numbers.values(), values), bindArray(numbers.keySet(), values))
                : numbers.entrySet().stream()
                        .map(entry -> " when " + entry.getKey() + " then " + entry.getValue())
                        .collect(Collectors.joining("", "case id", " end"));
    }

    private static String bindArray(Collection<Long> numbers, List<@Nullable Object> values) {
        SqlArray array = Objects.requireNonNull(SqlArray.of(numbers));
        values.add(array);
        return array.parameter();
    }
}
