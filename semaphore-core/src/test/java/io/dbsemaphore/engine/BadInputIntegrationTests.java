package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bad input that can be judged without the database is refused by an error that names it. */
class BadInputIntegrationTests extends BadInputFixture {

    @ParameterizedTest
    @MethodSource({"badRequests", "badCalls"})
    void isRefusedBeforeTheDatabaseIsTouched(BadCall bad) {
        assertRefusedBeforeTheDatabaseIsTouched(bad);
    }

    static Stream<BadCall> badRequests() {
        Stream<Stream<BadCall>> bad = Stream.of(
                request("no names", () -> AcquireRequest.of(), "at least one semaphore"),
                request("too many names", () -> of(101), "101", "100", "semaphore.max-names-per-request"),
                request("count 0", () -> known().withPermits(KNOWN, 0), KNOWN, "at least 1: 0"),
                request("count -1", () -> known().withPermits(KNOWN, -1), KNOWN, "at least 1: -1"),
                request("exclusive of 2", () -> known().withPermits(KNOWN, 2).exclusive(), KNOWN, "contradicts", "2"),
                request("2 of exclusive", () -> known().exclusive().withPermits(KNOWN, 2), KNOWN, "contradicts", "2"),
                ttl(Duration.ZERO, "PT1S", "PT0S"),
                ttl(Duration.ofHours(-1), "PT-1H"),
                ttl(Duration.ofMillis(999), "PT0.999S"),
                ttl(Duration.ofDays(30).plusMillis(1), "PT720H", "PT720H0.001S", "semaphore.max-ttl"),
                ttl(Duration.ofSeconds(Long.MAX_VALUE), "semaphore.max-ttl"),
                request("negative wait", () -> known().withWaitTime(Duration.ofMillis(-1)), "wait", "PT-0.001S"),
                request(
                        "negative head start",
                        () -> known().withHeadStart(Duration.ofMillis(-1)),
                        "The head start must not be negative: PT-0.001S"),
                request(
                        "head start over the maximum",
                        () -> known().withHeadStart(Duration.ofMinutes(61)),
                        "The head start must be at most PT1H (semaphore.max-head-start): PT1H1M"),
                request(
                        "share without a tenant",
                        () -> known().withShare("/batch"),
                        "The share has no tenant: '/batch'"),
                request(
                        "maximum hold of 24 ms",
                        () -> known().withMaxHold(Duration.ofMillis(24)),
                        "The maximum hold must be at least PT1S: PT0.024S"));
        return bad.flatMap(each -> each);
    }

    private static Stream<BadCall> ttl(Duration ttl, String... messageParts) {
        String[] all = Stream.concat(Stream.of("TTL"), Stream.of(messageParts)).toArray(String[]::new);
        return request("TTL " + ttl, () -> known().withTtl(ttl), all);
    }

    /** A request is refused as it is made, or by whatever acquires with it. */
    private static Stream<BadCall> request(String what, Supplier<AcquireRequest> request, String... messageParts) {
        return Stream.of(
                bad(what + ", acquire", node -> node.semaphores().acquire(request.get()), messageParts),
                bad(what + ", execute", node -> node.semaphores().execute(request.get(), held -> ""), messageParts));
    }

    private static AcquireRequest of(int names) {
        return AcquireRequest.of(
                IntStream.range(0, names).mapToObj(i -> "n" + i).toArray(String[]::new));
    }

    static Stream<BadCall> badCalls() {
        return Stream.of(
                bad("renewal TTL 0", renewal(Duration.ZERO), "TTL", "PT0S"),
                bad("renewal TTL over the maximum", renewal(Duration.ofDays(31)), "TTL", "PT744H"),
                bad("capacity -1", node -> node.admin().create("new", -1), "new", "-1"),
                bad("changed capacity -1", change(-1, "me", "because"), KNOWN, "capacity", "-1"),
                bad("changed by nobody", change(2, " ", "because"), "changedBy", "190"),
                bad("changed by someone long", change(2, "n".repeat(191), "because"), "changedBy", "190"),
                bad("changed without a reason", change(2, "me", ""), "reason", "1000"),
                bad("a reason too long", change(2, "me", "r".repeat(1001)), "reason", "1000"),
                bad("released by nobody", release("", "because"), "releasedBy", "190"),
                bad("released without a reason", release("me", " "), "reason", "1000"));
    }

    private static Consumer<Node> renewal(Duration ttl) {
        return node -> node.semaphores().renew(HELD, ttl);
    }

    private static Consumer<Node> change(int capacity, String changedBy, String reason) {
        return node -> node.admin().setCapacity(KNOWN, capacity, changedBy, reason);
    }

    private static Consumer<Node> release(String releasedBy, String reason) {
        return node -> node.admin().forceRelease(HELD, releasedBy, reason);
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT1S", "PT720H"})
    void theBoundsOfTheTimeToLiveAreAllowed(Duration ttl) {
        String name = cluster.semaphore(1);

        assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name).withTtl(ttl)))
                .get()
                .satisfies(grant -> assertThat(grant.expiresAt())
                        .contains(grant.acquiredAt().plus(ttl)))
                .satisfies(PermitGrant::release); // its expiry would be looked up during another test
    }

    /** An application that wants no maximum may set the longest duration there is. */
    @ParameterizedTest
    @ValueSource(strings = {"PT1S", "PT2562047788015215H30M7.999999999S"})
    void anyMaximumHoldIsAllowed(Duration maxHold) {
        AcquireRequest request =
                AcquireRequest.of(cluster.semaphore(1)).withMaxHold(maxHold).withKeepAlive(true);

        assertThat(node.semaphores().tryAcquire(request)).get().satisfies(PermitGrant::release);
    }

    @Test
    void aWaitWithoutEndIsAllowed() {
        AcquireRequest request =
                AcquireRequest.of(cluster.semaphore(1)).withWaitTime(Duration.ofSeconds(Long.MAX_VALUE));

        assertThat(node.semaphores().tryAcquire(request)).isPresent();
    }
}
