package io.dbsemaphore.tools.benchmark.approach;

import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.persistence.unit.Sql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;

/**
 * The statements that the library sends for a lone acquire of one permit and for its release: each text is one round trip.
 * {@code PlainStatementsIntegrationTests} compares them with those that the library logs, which are all but the opening ones.
 *
 * @param opening the statements with which the library opens a transaction; none where it sets up the session instead
 * @param insertSemaphore creates a semaphore
 * @param lock what locks the semaphore and sums its held permits
 * @param write what grants
 * @param release what releases
 */
record PlainStatements(
        List<String> opening, String insertSemaphore, List<String> lock, List<String> write, List<String> release) {

    private static final String LIMITS = """
            select set_config('lock_timeout', '1000ms', true), set_config('idle_in_transaction_session_timeout', '10000ms', true),
            set_config('statement_timeout', '11000ms', true), set_config('row_security', 'off', true)""";

    private static final String INSERT_SEMAPHORE = """
            insert into semaphore(id, name, capacity, fence, live_from, pattern, capacity_set_by, waiters_until, created_at, updated_at)
            values (?, ?, ?, epoch_micros(), 0, null, null, null, utc_now(), utc_now())""";

    private static final List<String> LOCK = List.of(
            "select s.id, s.name, s.capacity, s.fence, s.waiters_until from semaphore s where s.id = ? for update",
            """
            select coalesce(sum(p.count), 0), coalesce(max(p.exclusive), 0), coalesce(min(p.token), 0), utc_now() from permit p
            where p.semaphore_id = ? and p.state = 'ACQUIRED' and p.token >= (select s.live_from from semaphore s where s.id = ?)""");

    private static final List<String> WRITE =
            List.of("update semaphore set fence = fence + ?, updated_at = ?, live_from = ? where id in (?)", """
            insert into permit_request(id, external_id, owner, label, share_path, instance, state, content_digest, ttl_millis,
                expires_at, renewed_at, created_at, updated_at)
            values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""", """
            insert into permit(id, semaphore_id, permit_request_id, count, exclusive, state, token)
            values (?, ?, ?, ?, ?, ?, ?)""");

    private static final List<String> RELEASE =
            List.of("update permit set state = 'RELEASED' where permit_request_id in (?) and state = 'ACQUIRED'", """
            update permit_request set state = 'RELEASED', updated_at = utc_now() where id in (?) and state <> 'RELEASED'""");

    /** Those for the tables with this prefix, in the schema in which the sessions of this pool find them. */
    static PlainStatements of(DataSource pool, String tablePrefix) throws SQLException {
        Database database = Database.of(pool);
        String prefix = schema(pool, database, tablePrefix) + tablePrefix;
        return new PlainStatements(
                database == Database.POSTGRESQL ? translate(List.of(LIMITS), database, "") : List.of(),
                translate(List.of(INSERT_SEMAPHORE), database, prefix).get(0),
                translate(LOCK, database, prefix),
                translate(WRITE, database, prefix),
                translate(RELEASE, database, prefix));
    }

    private static String schema(DataSource pool, Database database, String tablePrefix) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement query = connection.prepareStatement(database.schemaQuery())) {
            query.setString(1, tablePrefix + "semaphore");
            try (ResultSet row = query.executeQuery()) {
                row.next();
                return database.quoted(row.getString(1)) + ".";
            }
        }
    }

    /** As the library does. */
    private static List<String> translate(List<String> statements, Database database, String prefix) {
        return statements.stream()
                .map(statement ->
                        database.withClock(Sql.withPrefix(statement.strip().replaceAll("\\s+", " "), prefix)))
                .toList();
    }

    /** The text of the first round trip of an acquire. */
    String lockText() {
        return text(Stream.concat(opening.stream(), lock.stream()));
    }

    /** The text of the second round trip of an acquire, which commits. */
    String writeText() {
        return text(Stream.concat(write.stream(), Stream.of("commit")));
    }

    /** The text of the round trip of a release, which commits. */
    String releaseText() {
        return text(Stream.of(opening, release, List.of("commit")).flatMap(List::stream));
    }

    private static String text(Stream<String> statements) {
        return String.join("; ", statements.toList());
    }
}
