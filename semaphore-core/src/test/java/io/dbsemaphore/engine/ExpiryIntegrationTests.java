package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.RequestAlreadyReleasedException;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.OtherClock;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.TimeZone;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Permits of a dead holder are reclaimed when their time to live has passed, by the next acquire that needs them. */
class ExpiryIntegrationTests {

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    private final Node node = cluster.node(0);
    private final Node other = cluster.node(1);
    private final String name = cluster.semaphore(1);

    @Test
    void givesThePermitsOfACrashedHolderToTheNextWhenTheirTimeIsOver() {
        HikariDataSource connections = cluster.schema().newPool(2);
        Node crashing = cluster.start(connections);
        PermitGrant lost = crashing.semaphores().acquire(AcquireRequest.of(name).withTtl(Duration.ofSeconds(1)));
        connections.close(); // from here on it can release nothing

        PermitGrant next = await().atMost(Duration.ofSeconds(20))
                .pollInterval(20, TimeUnit.MILLISECONDS)
                .until(() -> node.semaphores().tryAcquire(AcquireRequest.of(name)), Optional::isPresent)
                .orElseThrow();

        assertThat(next.acquiredAt()).isAfterOrEqualTo(lost.expiresAt().orElseThrow());
        assertThat(next.fencingToken()).isGreaterThan(lost.fencingToken());
        assertThat(lost.isHeld()).isEqualTo(false);
        assertThat(cluster.held(name)).isEqualTo(1);
    }

    @Test
    void leavesWhatHasNotExpired() {
        PermitGrant live = node.semaphores().acquire(AcquireRequest.of(name).withTtl(Duration.ofMinutes(1)));

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> other.semaphores().acquire(AcquireRequest.of(name)))
                .satisfies(e -> assertThat(e.earliestExpiry()).isEqualTo(live.expiresAt()));
        assertThat(live.renew(Duration.ofMinutes(1)).isHeld()).isEqualTo(true);
    }

    @Test
    void leavesWhatHasNoTimeToLive() {
        PermitGrant registered =
                node.semaphores().acquire(AcquireRequest.of(name).withoutTtl());

        assertThat(other.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();
        assertThat(registered.expiresAt()).isEmpty();
        assertThat(registered.isHeld()).isEqualTo(true);
    }

    @Test
    void takesTheExpiredOnesOnly() {
        String pair = cluster.semaphore(2);
        PermitGrant expired = node.semaphores().acquire(AcquireRequest.of(pair, name));
        PermitGrant live = node.semaphores().acquire(AcquireRequest.of(pair));
        cluster.expire(expired.externalId());

        assertThat(other.semaphores().tryAcquire(AcquireRequest.of(pair))).isPresent();

        assertThat(other.semaphores().tryAcquire(AcquireRequest.of(pair))).isEmpty();
        assertThat(node.semaphores().find(live.externalId())).isPresent();
        assertThat(node.semaphores().find(expired.externalId())).isEmpty();
        assertThat(cluster.held(name))
                .as("the other semaphore of the expired grant")
                .isZero();
    }

    @Test
    void keepsExpiredPermitsWhileNoAcquireNeedsThem() {
        String pair = cluster.semaphore(2);
        PermitGrant expired = node.semaphores().acquire(AcquireRequest.of(pair));
        cluster.expire(expired.externalId());

        assertThat(other.semaphores().tryAcquire(AcquireRequest.of(pair))).isPresent();

        assertThat(cluster.held(pair)).isEqualTo(2);
        assertThat(expired.release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    void refusesToRenewWhatHasExpired() {
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name));
        cluster.expire(grant.externalId());

        assertThatExceptionOfType(PermitLostException.class)
                .isThrownBy(() -> grant.renew(Duration.ofMinutes(1)))
                .withMessageContaining(grant.externalId());

        assertThat(grant.isHeld()).isEqualTo(false);
        assertThat(other.semaphores().tryAcquire(AcquireRequest.of(name))).isPresent();
    }

    @Test
    void aLateReleaseReportsTheLossAndReleasesNoOtherGrant() {
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name));
        cluster.expire(grant.externalId());
        PermitGrant next = other.semaphores().acquire(AcquireRequest.of(name));

        assertThat(grant.release()).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);

        assertThat(cluster.held(name)).isEqualTo(1);
        assertThat(other.semaphores().find(next.externalId())).isPresent();
    }

    @Test
    void aFindThatReadTheFormerExpiryDoesNotTakeARenewalBack() throws Exception {
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name).withTtl(Duration.ofMinutes(1)));
        Pause read = node.gate().pauseAfter("r.external_id");
        Future<Optional<PermitGrant>> found =
                Concurrently.async(() -> node.semaphores().find(grant.externalId()));
        read.awaitReached(Duration.ofSeconds(20));
        Optional<Instant> renewed = grant.renew(Duration.ofHours(1)).expiresAt();

        read.open();

        assertThat(Concurrently.get(found)).isPresent();
        assertThat(grant.expiresAt()).isEqualTo(renewed);
    }

    @Test
    void aReplayRenewsAnExpiredGrantThatWasNotReclaimed() {
        AcquireRequest request = AcquireRequest.of(name).withExternalId(cluster.externalId());
        PermitGrant grant = node.semaphores().acquire(request);
        cluster.expire(grant.externalId());

        PermitGrant revived = other.semaphores().acquire(request.withTtl(Duration.ofMinutes(10)));

        assertThat(revived.isReplayed()).isEqualTo(true);
        assertThat(revived.isHeld()).isEqualTo(true);
        assertThat(revived.fencingToken()).isEqualTo(grant.fencingToken());
        assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();
        assertThat(revived.renew(Duration.ofMinutes(1)).isHeld()).isEqualTo(true);
    }

    @Test
    void aReplayOfWhatWasTakenIsRefused() {
        AcquireRequest request = AcquireRequest.of(name).withExternalId(cluster.externalId());
        cluster.expire(node.semaphores().acquire(request).externalId());
        other.semaphores().acquire(AcquireRequest.of(name));

        assertThatExceptionOfType(RequestAlreadyReleasedException.class)
                .isThrownBy(() -> node.semaphores().acquire(request));
        assertThat(cluster.held(name)).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"Asia/Kolkata, +05:30", "America/St_Johns, -08:00", "Pacific/Tongatapu, +13:00"})
    void isRightInWhateverZoneTheJvmAndTheSessionAre(String jvm, String session) {
        inZone(jvm, () -> {
            try (HikariDataSource pool = pool(zoneStatement(session));
                    Node shifted = new Node(pool)) {
                assertTimesAreRight(shifted);
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"Asia/Kolkata", "America/St_Johns"})
    void staysRightWhenTheJvmGetsAnotherZoneAfterTheStart(String jvm) {
        node.semaphores().acquire(AcquireRequest.of(name)).release();

        inZone(jvm, () -> assertTimesAreRight(node));
    }

    /** The server is told that it is then, and there an hour without a local time in this zone. */
    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
    void isRightInAnHourThatTheZoneOfTheJvmSkips() {
        Instant skipped = Instant.parse("2027-03-14T02:30:00Z");
        inZone("America/New_York", () -> {
            try (HikariDataSource pool = cluster.schema().newPool(2);
                    Node shifted = new Node(new OtherClock(pool, skipped::getEpochSecond))) {
                PermitGrant grant =
                        shifted.semaphores().acquire(AcquireRequest.of(name).withTtl(Duration.ofMinutes(10)));

                assertThat(grant.acquiredAt()).isEqualTo(skipped);
                assertThat(grant.expiresAt()).contains(skipped.plus(Duration.ofMinutes(10)));
                assertThat(shifted.admin().holders(name)).singleElement().satisfies(holder -> {
                    assertThat(holder.acquiredAt()).isEqualTo(skipped);
                    assertThat(holder.expiresAt()).contains(skipped.plus(Duration.ofMinutes(10)));
                });
            }
        });
    }

    /** A grant of this node, and how it and another one see their grants. */
    private void assertTimesAreRight(Node shifted) {
        PermitGrant grant = shifted.semaphores().acquire(AcquireRequest.of(name).withTtl(Duration.ofMinutes(1)));
        assertThat(grant.acquiredAt()).isCloseTo(Instant.now(), within(30, ChronoUnit.SECONDS));
        assertThat(grant.expiresAt()).contains(grant.acquiredAt().plus(Duration.ofMinutes(1)));
        assertThat(shifted.admin().holders(name)).singleElement().satisfies(holder -> {
            assertThat(holder.acquiredAt()).isEqualTo(grant.acquiredAt());
            assertThat(holder.expiresAt()).isEqualTo(grant.expiresAt());
        });
        assertThat(other.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();
        grant.renew(Duration.ofMinutes(2));
        assertThat(grant.expiresAt().orElseThrow())
                .isCloseTo(grant.acquiredAt().plus(Duration.ofMinutes(2)), within(20, ChronoUnit.SECONDS));
        assertThat(grant.isHeld()).isEqualTo(true);
        grant.release();

        PermitGrant elsewhere =
                other.semaphores().acquire(AcquireRequest.of(name).withTtl(Duration.ofMinutes(1)));
        assertThat(shifted.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();
        assertThat(shifted.semaphores().find(elsewhere.externalId())).get().satisfies(found -> {
            assertThat(found.isHeld()).isEqualTo(true);
            assertThat(found.acquiredAt()).isEqualTo(elsewhere.acquiredAt());
        });
        cluster.expire(elsewhere.externalId());
        assertThat(shifted.semaphores().tryAcquire(AcquireRequest.of(name))).isPresent();
    }

    private static void inZone(String zone, Runnable test) {
        TimeZone before = TimeZone.getDefault();
        TimeZone.setDefault(TimeZone.getTimeZone(zone));
        try {
            test.run();
        } finally {
            TimeZone.setDefault(before);
        }
    }

    private static String zoneStatement(String offset) {
        return switch (cluster.schema().kind()) {
            case MYSQL, MARIADB -> "set time_zone = '%s'".formatted(offset);
            case POSTGRESQL -> "set time zone interval '%s' hour to minute".formatted(offset);
            case H2 -> "set time zone '%s'".formatted(offset);
        };
    }

    private static HikariDataSource pool(String connectionInitSql) {
        TestDatabase.Schema schema = cluster.schema();
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(schema.jdbcUrl());
        config.setUsername(schema.username());
        config.setPassword(schema.password());
        config.setMaximumPoolSize(2);
        config.setConnectionInitSql(connectionInitSql);
        return new HikariDataSource(config);
    }
}
