package io.dbsemaphore.maintenance;

import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.springframework.jdbc.core.JdbcTemplate;

/** Many requests that are there at once, made by the database itself. Their external ids begin with {@link #PREFIX}. */
final class Backlog {

    static final String PREFIX = "backlog-";

    private static final String DIGITS = IntStream.range(0, 10)
            .mapToObj(digit -> "select " + digit + " as n")
            .collect(Collectors.joining(" union all ", "(", ")"));

    private final JdbcTemplate jdbc;

    Backlog(Instances instances) {
        this.jdbc = instances.jdbc();
    }

    /** Requests that each hold one permit and have expired, so many of each semaphore. */
    void addExpired(List<String> names, int each) {
        LocalDateTime past = Instances.ago(Duration.ofMinutes(1));
        insert("ACQUIRED", past, past, names, each);
    }

    /** Requests that each hold one permit and expire that much later, so many of each semaphore. */
    void addHeld(List<String> names, int each, Duration expireIn) {
        LocalDateTime now = Instances.ago(Duration.ZERO);
        insert("ACQUIRED", now.plus(expireIn), now, names, each);
    }

    /** Has so many of the requests kept alive by an instance. */
    void keepAliveBy(long instance) {
        jdbc.update("update permit_request set instance = ? where external_id like '" + PREFIX + "%'", instance);
    }

    /** Requests that were released that long ago, so many of each semaphore. */
    void addReleased(List<String> names, int each, Duration age) {
        LocalDateTime past = Instances.ago(age);
        insert("RELEASED", past, past, names, each);
    }

    private void insert(String state, LocalDateTime expiresAt, LocalDateTime changedAt, List<String> names, int each) {
        for (int i = 0; i < names.size(); i++) {
            long first = 1_000_000 + (long) i * each;
            jdbc.update(
                    """
                    insert into permit_request (id, external_id, owner, state, content_digest, ttl_millis, expires_at,
                        renewed_at, created_at, updated_at)
                    select ? + n, concat('%s', ? + n), 'crashed', ?, 'none', 1000, ?, ?, ?, ? from (%s) numbers
                    where n < ?""".formatted(PREFIX, numbersBelow(each)),
                    first,
                    first,
                    state,
                    expiresAt,
                    changedAt,
                    changedAt,
                    changedAt,
                    each);
            jdbc.update("""
                    insert into permit (id, semaphore_id, permit_request_id, count, exclusive, state, token)
                    select r.id, s.id, r.id, 1, 0, r.state, r.id from permit_request r, semaphore s
                    where s.name = ? and r.id >= ? and r.id < ?""", names.get(i), first, first + each);
        }
    }

    /** Numbers from 0, up to this one at least. */
    private static String numbersBelow(int bound) {
        List<String> places = new ArrayList<>();
        List<String> tables = new ArrayList<>();
        for (int place = 1; place < bound; place *= 10) {
            places.add("%d * t%d.n".formatted(place, place));
            tables.add("%s t%d".formatted(DIGITS, place));
        }
        return "select %s as n from %s".formatted(String.join(" + ", places), String.join(", ", tables));
    }
}
