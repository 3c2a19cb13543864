package io.dbsemaphore.testing.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.TestDatabase.Schema;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.springframework.jdbc.core.JdbcTemplate;

/** What the database says of semaphores, read past the library and past every proxy. */
public final class SemaphoreRows {

    private static final AtomicInteger NAMED = new AtomicInteger();

    private final JdbcTemplate jdbc;

    public SemaphoreRows(Schema schema) {
        this.jdbc = schema.jdbc();
    }

    /** A name that no other test uses. */
    public static String name(String base) {
        return base + "-" + NAMED.incrementAndGet();
    }

    /** The number of permits held. */
    public int held(String name) {
        return number("""
                select coalesce(sum(p.count), 0) from permit p join semaphore s on s.id = p.semaphore_id
                where s.name = ? and p.state = 'ACQUIRED'""", name);
    }

    /** As {@link #held(String)}. */
    public static int held(Schema schema, String name) {
        return new SemaphoreRows(schema).held(name);
    }

    /** The states of the request with this external id and of its permits, each once. */
    public static List<String> states(Schema schema, String externalId) {
        return schema.jdbc().queryForList("""
                select state from permit_request where external_id = ?
                union select p.state from permit p join permit_request r on r.id = p.permit_request_id
                where r.external_id = ?""", String.class, externalId, externalId);
    }

    /** The external ids of the requests that hold permits, or held some, in alphabetical order. */
    public List<String> requests(String name, String state) {
        return jdbc.queryForList("""
                select r.external_id from permit_request r join permit p on p.permit_request_id = r.id
                join semaphore s on s.id = p.semaphore_id
                where s.name = ? and r.state = ? order by r.external_id""", String.class, name, state);
    }

    /** The state of a request; empty without a request, and one element otherwise. */
    public List<String> states(String externalId) {
        return jdbc.queryForList("select state from permit_request where external_id = ?", String.class, externalId);
    }

    public long fence(String name) {
        return jdbc.queryForObject("select fence from semaphore where name = ?", Long.class, name);
    }

    public long id(String name) {
        return jdbc.queryForObject("select id from semaphore where name = ?", Long.class, name);
    }

    /** The grant is in the database exactly once, as its handle says, and there is no other grant. */
    public void assertHeldByOnly(PermitGrant grant) {
        grant.permits().forEach((name, count) -> {
            assertThat(requests(name, "ACQUIRED")).containsExactly(grant.externalId());
            assertThat(held(name)).isEqualTo(count);
            assertThat(tokens(name)).containsExactly(grant.fencingToken(name));
        });
        assertThat(grant.isHeld()).isTrue();
        assertNothingIsHalf();
    }

    public void assertNothingHeld(Iterable<String> names) {
        names.forEach(name -> assertThat(held(name)).as("held of %s", name).isZero());
        names.forEach(name -> assertThat(requests(name, "ACQUIRED")).isEmpty());
        assertNothingIsHalf();
    }

    /** What is done in the background is done by then. */
    public void awaitNothingHeld(Duration timeout, Iterable<String> names) {
        Awaitility.await()
                .atMost(timeout)
                .pollInterval(Duration.ofMillis(20))
                .untilAsserted(() -> assertNothingHeld(names));
    }

    /** A request and its permits are in the same state, and none is without the other. */
    private void assertNothingIsHalf() {
        assertThat(number("""
                                select count(*) from permit_request r left join permit p on p.permit_request_id = r.id
                                where p.state <> r.state or (p.id is null and r.state = 'ACQUIRED')"""))
                .as("requests of which only a part was committed")
                .isZero();
    }

    private List<Long> tokens(String name) {
        return jdbc.queryForList("""
                select p.token from permit p join semaphore s on s.id = p.semaphore_id
                where s.name = ? and p.state = 'ACQUIRED'""", Long.class, name);
    }

    private int number(String sql, Object... arguments) {
        return jdbc.queryForObject(sql, Integer.class, arguments);
    }
}
