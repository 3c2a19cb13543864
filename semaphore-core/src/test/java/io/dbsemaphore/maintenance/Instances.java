package io.dbsemaphore.maintenance;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Two application instances on one database, which is made before the first test of a class and emptied after each: what
 * the maintenance finds is what the test has left for it.
 */
final class Instances implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {

    /** How long a thread may take to come to where a test waits for it. */
    static final Duration SOON = Duration.ofSeconds(30);

    /** The semaphore under which the maintenance works. */
    static final String MAINTENANCE = "dbsemaphore.maintenance";

    private static final AtomicInteger NAMED = new AtomicInteger();

    private final SemaphoreSettings maintenance;
    private final List<Node> started = new ArrayList<>();
    private @Nullable Schema schema;

    Instances(SemaphoreSettings maintenance) {
        this.maintenance = maintenance;
    }

    /** The default settings but for the size of the maintenance's batches, and without a schedule. */
    static SemaphoreSettings inBatchesOf(int batchSize) {
        return TestSettings.defaults()
                .with(MaintenanceSettings.ENABLED, false)
                .with(MaintenanceSettings.BATCH_SIZE, batchSize);
    }

    static SemaphoreSettings maintenance(int batchSize, Duration staleAfter, Duration ownerGrace) {
        return inBatchesOf(batchSize)
                .with(MaintenanceSettings.STALE_AFTER, staleAfter)
                .with(MaintenanceSettings.OWNER_GRACE, ownerGrace);
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        schema = TestDatabase.create().migrate();
        start(maintenance);
        start(maintenance);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        List.of(
                        "permit",
                        "permit_request",
                        "capacity_change",
                        "semaphore_share",
                        "semaphore where name <> '" + MAINTENANCE + "'")
                .forEach(table -> jdbc().update("delete from " + table));
        jdbc().update("update semaphore set capacity = 1");
        started.forEach(instance -> {
            instance.judgeBy();
            instance.provideBy();
            instance.events().clear();
            instance.gate().close(); // ends what is left of its pauses
            instance.gate().clear();
        });
    }

    @Override
    public void afterAll(ExtensionContext context) {
        started.forEach(Node::close);
        started.clear();
        schema().close();
    }

    Schema schema() {
        if (schema == null) {
            throw new IllegalStateException("Before the first test of the class");
        }
        return schema;
    }

    JdbcTemplate jdbc() {
        return schema().jdbc();
    }

    Node first() {
        return started.get(0);
    }

    Node second() {
        return started.get(1);
    }

    /** One more; it is closed with the others. */
    Node start(SemaphoreSettings settings) {
        Node instance = new Node(schema().newPool(12), settings);
        started.add(instance);
        return instance;
    }

    /** Creates a semaphore with a name that no other test uses. */
    String semaphore(int capacity) {
        String name = "s" + NAMED.incrementAndGet();
        first().admin().create(name, capacity);
        return name;
    }

    /** An external id that no other test uses. */
    String externalId() {
        return "r" + NAMED.incrementAndGet();
    }

    long held(String name) {
        return SemaphoreRows.held(schema(), name);
    }

    /** The state of a request; empty where there is none. */
    List<String> states(String externalId) {
        return jdbc().queryForList("select state from permit_request where external_id = ?", String.class, externalId);
    }

    /** Makes the time to live of a request be over. */
    void expire(String externalId) {
        assertThat(jdbc().update(
                                "update permit_request set expires_at = ? where external_id = ?",
                                ago(Duration.ofSeconds(1)),
                                externalId))
                .isEqualTo(1);
    }

    /** Makes the acquire or last renewal of a request be that long ago. */
    void renewedAgo(String externalId, Duration age) {
        assertThat(jdbc().update(
                                "update permit_request set renewed_at = ? where external_id = ?", ago(age), externalId))
                .isEqualTo(1);
    }

    /** Makes a request be that old: its key, which tells when it was made, and its last change. Its holder does not know the new key. */
    void makeOld(String externalId, Duration age) {
        long id = NAMED.incrementAndGet();
        assertThat(jdbc().update("""
                insert into permit_request (id, external_id, owner, instance, state, content_digest, ttl_millis,
                    expires_at, renewed_at, created_at, updated_at)
                select ?, concat('copy of ', external_id), owner, instance, state, content_digest, ttl_millis,
                    expires_at, ?, ?, ? from permit_request where external_id = ?""", id, ago(age), ago(age), ago(age), externalId))
                .isEqualTo(1);
        jdbc().update(
                        "update permit set permit_request_id = ? where permit_request_id ="
                                + " (select r.id from permit_request r where r.external_id = ?)",
                        id,
                        externalId);
        jdbc().update("delete from permit_request where external_id = ?", externalId);
        jdbc().update("update permit_request set external_id = ? where id = ?", externalId, id);
    }

    /** A time of the database, which has the clock of this machine, in UTC. */
    static LocalDateTime ago(Duration age) {
        return LocalDateTime.now(ZoneOffset.UTC).minus(age);
    }

    long number(String sql, Object... arguments) {
        Long number = jdbc().queryForObject(sql, Long.class, arguments);
        return number == null ? -1 : number;
    }

    /** A request and its permits are in the same state and together, and nothing is over capacity. */
    void assertConsistent() {
        assertRequestsAndPermitsAgree();
        assertThat(jdbc().queryForList("""
                        select s.name from semaphore s join permit p on p.semaphore_id = s.id and p.state = 'ACQUIRED'
                        group by s.id, s.name, s.capacity having sum(p.count) > s.capacity""", String.class))
                .as("semaphores over capacity")
                .isEmpty();
    }

    /** As {@link #assertConsistent()}, and the maintenance holds nothing any more. */
    void assertConsistentAfterMaintenance() {
        assertConsistent();
        assertThat(held(MAINTENANCE)).isZero();
    }

    void assertRequestsAndPermitsAgree() {
        assertThat(jdbc().queryForList("""
                        select r.external_id from permit_request r left join permit p on p.permit_request_id = r.id
                        where p.state <> r.state or p.id is null""", String.class))
                .as("requests that disagree with their permits, or have none")
                .isEmpty();
        assertThat(number("select count(*) from permit p where not exists"
                        + " (select 1 from permit_request r where r.id = p.permit_request_id)"))
                .as("permits without a request")
                .isZero();
    }
}
