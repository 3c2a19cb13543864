package io.dbsemaphore.maintenance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.ChildJvm;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.OtherClock;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The only clock is that of the database, in UTC, whatever the zones of JVMs and sessions are. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
@Slow
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClockIntegrationTests {

    private static final Duration START = Duration.ofSeconds(90);
    private static final Duration ANSWER = Duration.ofSeconds(30);

    /** Zones of JVMs, each with another zone for its sessions. */
    private static final Map<String, String> ZONES = Map.of(
            "Pacific/Kiritimati", "-12:00",
            "Pacific/Pago_Pago", "+13:00",
            "Asia/Kathmandu", "+00:00",
            "America/New_York", "+05:30",
            "Europe/Berlin", "-03:30",
            "Australia/Lord_Howe", "+09:00");

    @Test
    void isTheSameForJvmsInSixZones() {
        Map<String, ChildJvm> processes = new HashMap<>();
        try (Schema schema = TestDatabase.createForProcesses().migrate();
                Node here = new Node(schema.newPool(3), Instances.inBatchesOf(800))) {
            here.admin().create("shared", 1);
            here.admin().create("many", ZONES.size());
            ZONES.forEach((zone, sessionZone) -> {
                Map<String, String> properties = new HashMap<>(schema.handOver());
                properties.put("user.timezone", zone);
                processes.put(
                        zone,
                        ChildJvm.start(ZonedProcess.class, properties, "set time_zone = '%s'".formatted(sessionZone)));
            });
            processes.forEach((zone, process) ->
                    assertThat(process.awaitLine("READY", START)).isEqualTo("READY " + zone));

            processes.forEach((zone, process) -> {
                assertTtl(schema, process, "acquire many %s 3600000", zone, "GRANTED", Duration.ofHours(1));
                assertTtl(schema, process, "renew %s 86400000", zone, "RENEWED", Duration.ofDays(1));
            });
            assertThat(here.semaphores().tryAcquire(AcquireRequest.of("many"))).isEmpty();
            processes.values().forEach(process -> {
                assertThat(ask(process, "sweep", "SWEPT")).isEqualTo("SWEPT 0");
                assertThat(ask(process, "acquire many another 1000", "")).isEqualTo("REFUSED");
            });

            List<Instant> times = new ArrayList<>();
            processes.forEach((zone, process) -> {
                String[] granted = await("the time of " + zone)
                        .atMost(ANSWER)
                        .pollDelay(Duration.ZERO)
                        .pollInterval(Duration.ofMillis(100))
                        .until(
                                () -> ask(process, "acquire shared short-" + zone + " 2000", ""),
                                said -> said.startsWith("GRANTED"))
                        .split(" ", -1);
                if (!times.isEmpty()) {
                    assertThat(Instant.parse(granted[1]))
                            .as("acquired in %s, when the one before had expired", zone)
                            .isAfterOrEqualTo(times.get(times.size() - 1));
                }
                times.add(Instant.parse(granted[2]));
            });
            assertThat(times).isSorted();
        } finally {
            processes.values().forEach(ChildJvm::close);
        }
    }

    /** The session's clock stands still, years and half an hour from that of this JVM. */
    @Test
    void isThatOfTheDatabaseEvenWhereItIsWrong() {
        Instant databaseClock = Instant.parse("2031-03-30T01:30:00Z");
        try (Schema schema = TestDatabase.create().migrate();
                HikariDataSource pool = schema.newPool(3);
                Node instance =
                        new Node(new OtherClock(pool, databaseClock::getEpochSecond), Instances.inBatchesOf(800))) {
            instance.admin().create("jobs", 3);
            AcquireRequest request =
                    AcquireRequest.of("jobs").withExternalId("a").withTtl(Duration.ofMinutes(10));

            PermitGrant grant = instance.semaphores().acquire(request);

            assertThat(grant.acquiredAt()).isEqualTo(databaseClock);
            assertThat(grant.expiresAt()).contains(databaseClock.plus(Duration.ofMinutes(10)));
            assertTimes(schema, databaseClock, Duration.ofMinutes(10));
            assertThat(grant.isHeld()).isEqualTo(true);

            assertThat(grant.renew(Duration.ofMinutes(20)).expiresAt())
                    .contains(databaseClock.plus(Duration.ofMinutes(20)));
            assertTimes(schema, databaseClock, Duration.ofMinutes(20));

            AcquireRequest longer = request.withTtl(Duration.ofMinutes(30));
            assertThat(instance.semaphores().acquire(longer).isReplayed()).isEqualTo(true);
            assertTimes(schema, databaseClock, Duration.ofMinutes(30));

            assertThat(instance.maintenance().releaseOrphans()).isZero();
            assertThat(instance.maintenance().deleteReleasedRequests()).isZero();
            expireAt(schema, databaseClock.plusMillis(1));
            assertThat(instance.maintenance().releaseOrphans()).isZero();
            expireAt(schema, databaseClock);
            assertThat(instance.maintenance().releaseOrphans()).isEqualTo(1);

            instance.admin().setCapacity("jobs", 4, "operator", "clock");
            assertThat(instance.admin().capacityHistory("jobs"))
                    .singleElement()
                    .satisfies(change -> assertThat(change.changedAt()).isEqualTo(databaseClock));
            assertThat(instance.gate().statements())
                    .filteredOn(sql -> sql.contains(", expires_at = "))
                    .isNotEmpty()
                    .allSatisfy(sql -> assertThat(sql)
                            .contains("timestampadd(microsecond, ")
                            .doesNotContain("expires_at = ?"));
        }
    }

    private static void assertTtl(
            Schema schema, ChildJvm process, String command, String zone, String answer, Duration ttl) {
        String id = "id-" + zone;
        String[] said = ask(process, command.formatted(id), answer).split(" ", -1);
        LocalDateTime stored = schema.jdbc()
                .queryForObject("select expires_at from permit_request where external_id = ?", LocalDateTime.class, id);
        Instant expiresAt = Instant.parse(said[said.length - 1]);

        assertThat(expiresAt).as("as %s says and the database", zone).isEqualTo(stored.toInstant(ZoneOffset.UTC));
        assertThat(schema.jdbc()
                        .queryForObject(
                                "select timestampdiff(microsecond, renewed_at, expires_at) from permit_request where"
                                        + " external_id = ?",
                                Long.class,
                                id))
                .as("microseconds from the renewal in %s to the expiry", zone)
                .isCloseTo(ttl.toNanos() / 1000, within(1_000L));
        // this machine and the database have one clock
        assertThat(Duration.between(Instant.now(), expiresAt).minus(ttl).abs())
                .as("the rest of the time to live, granted in %s", zone)
                .isLessThan(Duration.ofSeconds(5));
    }

    private static String ask(ChildJvm process, String command, String answer) {
        process.send(command);
        return process.awaitLine(answer, ANSWER);
    }

    private static void assertTimes(Schema schema, Instant now, Duration ttl) {
        Map<String, Object> row = schema.jdbc()
                .queryForMap(
                        "select cast(expires_at as char) expires, cast(renewed_at as char) renewed, cast(created_at as char)"
                                + " created, cast(updated_at as char) updated from permit_request where external_id = 'a'");
        assertThat(row.get("expires")).isEqualTo(text(now.plus(ttl)));
        assertThat(row.get("renewed")).isEqualTo(text(now));
        assertThat(row.get("created")).isEqualTo(text(now));
        assertThat(row.get("updated")).isEqualTo(text(now));
    }

    private static void expireAt(Schema schema, Instant expiry) {
        schema.jdbc()
                .update(
                        "update permit_request set expires_at = ? where external_id = 'a'",
                        LocalDateTime.ofInstant(expiry, ZoneOffset.UTC));
    }

    private static String text(Instant instant) {
        return instant.truncatedTo(ChronoUnit.SECONDS)
                .toString()
                .replace('T', ' ')
                .replace("Z", ".000000");
    }
}
