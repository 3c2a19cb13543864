package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.PermitsExceedCapacityException;
import io.dbsemaphore.RequestAlreadyReleasedException;
import io.dbsemaphore.RequestConflictException;
import io.dbsemaphore.SemaphoreInUseException;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bad input gets an error that names it. What can be judged without the database is; otherwise nothing is changed. */
class BadInputIntegrationTests {

    private static final String KNOWN = "known";
    private static final String HELD = "held-id";
    private static final String RELEASED = "released-id";
    private static final String LONG = "n".repeat(191);

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    @BeforeAll
    static void prepare() {
        Node node = cluster.node(0);
        node.admin().create(KNOWN, 3);
        node.semaphores().acquire(AcquireRequest.of(KNOWN).withExternalId(HELD));
        node.semaphores()
                .acquire(AcquireRequest.of(KNOWN).withExternalId(RELEASED))
                .release();
    }

    @ParameterizedTest
    @MethodSource
    void isRefusedBeforeTheDatabaseIsTouched(BadCall bad) {
        assertRefused(bad);

        assertThat(cluster.node(0).gate().statements())
                .allMatch(statement -> statement.startsWith("set ")); // an earlier session is given back
    }

    static Stream<BadCall> isRefusedBeforeTheDatabaseIsTouched() {
        return Stream.of(
                        badRequest("no names", () -> AcquireRequest.of(), "at least one semaphore"),
                        badRequest("too many names", () -> of(101), "101", "100", "semaphore.max-names-per-request"),
                        badRequest("count 0", () -> known().withPermits(KNOWN, 0), KNOWN, "at least 1: 0"),
                        badRequest("count -1", () -> known().withPermits(KNOWN, -1), KNOWN, "at least 1: -1"),
                        badRequest(
                                "exclusive with a count",
                                () -> known().withPermits(KNOWN, 2).exclusive(),
                                KNOWN,
                                "contradicts",
                                "2"),
                        badRequest(
                                "a count with exclusive",
                                () -> known().exclusive().withPermits(KNOWN, 2),
                                KNOWN,
                                "contradicts",
                                "2"),
                        badRequest("TTL 0", () -> known().withTtl(Duration.ZERO), "TTL", "PT1S", "PT0S"),
                        badRequest("TTL negative", () -> known().withTtl(Duration.ofHours(-1)), "TTL", "PT-1H"),
                        badRequest("TTL below 1 s", () -> known().withTtl(Duration.ofMillis(999)), "TTL", "PT0.999S"),
                        badRequest(
                                "TTL over the maximum",
                                () -> known().withTtl(Duration.ofDays(30).plusMillis(1)),
                                "TTL",
                                "PT720H",
                                "PT720H0.001S",
                                "semaphore.max-ttl"),
                        badRequest(
                                "TTL without end",
                                () -> known().withTtl(Duration.ofSeconds(Long.MAX_VALUE)),
                                "TTL",
                                "semaphore.max-ttl"),
                        badRequest(
                                "negative wait",
                                () -> known().withWaitTime(Duration.ofMillis(-1)),
                                "wait",
                                "PT-0.001S"),
                        badRequest("maximum hold 0", () -> known().withMaxHold(Duration.ZERO), "hold", "PT0S"),
                        bad("renewal TTL 0", node -> node.semaphores().renew(HELD, Duration.ZERO), "TTL", "PT0S"),
                        bad(
                                "renewal TTL over the maximum",
                                node -> node.semaphores().renew(HELD, Duration.ofDays(31)),
                                "TTL",
                                "PT744H"),
                        bad("capacity -1", node -> node.admin().create("new", -1), "new", "-1"),
                        bad(
                                "changed capacity -1",
                                node -> setCapacity(node, -1, "me", "because"),
                                KNOWN,
                                "capacity",
                                "-1"),
                        bad("changed by nobody", node -> setCapacity(node, 2, " ", "because"), "changedBy", "190"),
                        bad(
                                "changed by someone long",
                                node -> setCapacity(node, 2, LONG, "because"),
                                "changedBy",
                                "190"),
                        bad("changed without a reason", node -> setCapacity(node, 2, "me", ""), "reason", "1000"),
                        bad(
                                "a reason too long",
                                node -> setCapacity(node, 2, "me", "r".repeat(1001)),
                                "reason",
                                "1000"),
                        bad(
                                "released by nobody",
                                node -> node.admin().forceRelease(HELD, "", "because"),
                                "releasedBy",
                                "190"),
                        bad(
                                "released without a reason",
                                node -> node.admin().forceRelease(HELD, "me", " "),
                                "reason",
                                "1000"))
                .flatMap(Function.identity());
    }

    @ParameterizedTest
    @MethodSource
    void isRefusedAsAKeyBeforeTheDatabaseIsTouched(BadKey key) {
        Stream.of(
                        use(
                                "semaphore name",
                                key,
                                node -> node.semaphores().acquire(AcquireRequest.of(KNOWN, key.text()))),
                        use(
                                "semaphore name",
                                key,
                                node -> node.semaphores().acquire(known().withPermits(key.text(), 1))),
                        use("semaphore name", key, node -> node.admin().create(key.text(), 1)),
                        use("owner", key, node -> node.semaphores().acquire(known().withOwner(key.text()))),
                        use("external id", key, node -> node.semaphores().acquire(known().withExternalId(key.text()))),
                        use("external id", key, node -> node.semaphores().release(key.text())),
                        use("external id", key, node -> node.semaphores().find(key.text())))
                .forEach(BadInputIntegrationTests::assertRefused);

        assertThat(cluster.node(0).gate().statements())
                .allMatch(statement -> statement.startsWith("set ")); // an earlier session is given back
    }

    static Stream<BadKey> isRefusedAsAKeyBeforeTheDatabaseIsTouched() {
        return Stream.of(
                key("empty", "", "blank"),
                key("blank", " \t ", "blank"),
                key("191 characters", LONG, "191", "190", "n".repeat(40)),
                key("a line feed", "line\nfeed", "control characters", "line?feed"),
                key("NUL", "nul\0", "control characters", "nul?"),
                key("a C1 control", "next\u0085line", "control characters"),
                key("leading space", " front", "space", "' front'"),
                key("trailing space", "back ", "space", "'back '"),
                key("trailing no-break space", "back\u00a0", "space"),
                key("half a surrogate pair", "half\ud83d", "surrogate"),
                key("the other half first", "\ude00\ud83d", "surrogate"));
    }

    @ParameterizedTest
    @MethodSource
    void isRefusedWithoutAChange(BadCall bad) {
        assertRefused(bad);
    }

    static Stream<BadCall> isRefusedWithoutAChange() {
        return Stream.of(
                bad(
                        "more than the capacity",
                        acquire(known().withPermits(KNOWN, 4)),
                        PermitsExceedCapacityException.class,
                        KNOWN,
                        "3",
                        "4"),
                bad(
                        "very much more than the capacity",
                        acquire(known().withPermits(KNOWN, Integer.MAX_VALUE)),
                        PermitsExceedCapacityException.class,
                        KNOWN,
                        "2147483647"),
                bad(
                        "a name too often",
                        acquire(AcquireRequest.of(KNOWN, KNOWN, KNOWN, KNOWN)),
                        PermitsExceedCapacityException.class,
                        KNOWN,
                        "3",
                        "4"),
                bad(
                        "unknown semaphores",
                        acquire(AcquireRequest.of(KNOWN, "nowhere", "to be found")),
                        SemaphoreNotFoundException.class,
                        "nowhere",
                        "to be found"),
                bad("another case", acquire(AcquireRequest.of("Known")), SemaphoreNotFoundException.class, "Known"),
                bad(
                        "a released id",
                        acquire(known().withExternalId(RELEASED)),
                        RequestAlreadyReleasedException.class,
                        RELEASED),
                bad(
                        "an id with other counts",
                        acquire(known().withExternalId(HELD).withPermits(KNOWN, 2)),
                        RequestConflictException.class,
                        HELD,
                        KNOWN,
                        "2"),
                bad(
                        "a released id with other counts",
                        acquire(known().withExternalId(RELEASED).withPermits(KNOWN, 2)),
                        RequestConflictException.class,
                        RELEASED),
                bad(
                        "renewal of a released id",
                        node -> node.semaphores().renew(RELEASED, Duration.ofMinutes(1)),
                        PermitLostException.class,
                        RELEASED),
                bad(
                        "renewal of an unknown id",
                        node -> node.semaphores().renew("unheard-of", Duration.ofMinutes(1)),
                        PermitLostException.class,
                        "unheard-of"),
                bad(
                        "the capacity of an unknown semaphore",
                        node -> {
                            node.admin().setCapacity("nowhere", 1, "me", "because");
                            return null;
                        },
                        SemaphoreNotFoundException.class,
                        "nowhere"),
                bad(
                        "the holders of an unknown semaphore",
                        node -> node.admin().holders("nowhere"),
                        SemaphoreNotFoundException.class,
                        "nowhere"),
                bad(
                        "deletion of a semaphore that is held",
                        node -> node.admin().delete(KNOWN),
                        SemaphoreInUseException.class,
                        KNOWN,
                        "1"));
    }

    @Test
    void changesNothingWhenASemaphoreExistsAlready() {
        Map<String, List<Map<String, Object>>> before = cluster.rows();

        assertThat(cluster.node(0).admin().create(KNOWN, 7)).isEqualTo(false);

        assertThat(cluster.rows()).isEqualTo(before);
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "tenant:42/ü 漢字 😀", "a  b", "Ω\u200dω"})
    void anyOtherTextIsAKey(String key) {
        Node node = cluster.node(0);
        assertAccepted(node, key);
    }

    @Test
    void aHundredAndNinetyCharactersAreAKey() {
        assertAccepted(cluster.node(0), "k".repeat(190));
        assertAccepted(cluster.node(0), "😀".repeat(95));
    }

    @Test
    void theBoundsOfTheTimeToLiveAreAllowed() {
        String name = cluster.semaphore(2);
        for (Duration ttl : List.of(Duration.ofSeconds(1), Duration.ofDays(30))) {
            assertThat(cluster.node(0)
                            .semaphores()
                            .tryAcquire(AcquireRequest.of(name).withTtl(ttl)))
                    .get()
                    .satisfies(grant -> assertThat(grant.expiresAt())
                            .contains(grant.acquiredAt().plus(ttl)));
        }
    }

    @Test
    void aWaitWithoutEndIsAllowed() {
        String name = cluster.semaphore(1);

        assertThat(cluster.node(0)
                        .semaphores()
                        .tryAcquire(AcquireRequest.of(name).withWaitTime(Duration.ofSeconds(Long.MAX_VALUE))))
                .isPresent();
    }

    private static void assertAccepted(Node node, String key) {
        assertThat(node.admin().create(key, 1)).isEqualTo(true);
        assertThat(node.semaphores()
                        .acquire(AcquireRequest.of(key).withExternalId(key).withOwner(key))
                        .permits())
                .containsOnlyKeys(key);
        assertThat(node.admin().holders(key)).singleElement().satisfies(holder -> {
            assertThat(holder.externalId()).isEqualTo(key);
            assertThat(holder.owner()).isEqualTo(key);
        });
        assertThat(cluster.held(key)).isEqualTo(1);
    }

    private static void assertRefused(BadCall bad) {
        Map<String, List<Map<String, Object>>> before = cluster.rows();
        Node node = cluster.node(0);
        node.gate().clear();

        assertThatThrownBy(() -> bad.call().apply(node))
                .as(bad.description())
                .isInstanceOf(bad.type())
                .hasMessageContainingAll(bad.messageParts());

        assertThat(cluster.rows()).isEqualTo(before);
    }

    private static AcquireRequest known() {
        return AcquireRequest.of(KNOWN);
    }

    private static AcquireRequest of(int names) {
        return AcquireRequest.of(
                IntStream.range(0, names).mapToObj(i -> "n" + i).toArray(String[]::new));
    }

    private static Function<Node, @Nullable Object> acquire(AcquireRequest request) {
        return node -> node.semaphores().acquire(request);
    }

    private static @Nullable Object setCapacity(Node node, int capacity, String changedBy, String reason) {
        node.admin().setCapacity(KNOWN, capacity, changedBy, reason);
        return null;
    }

    /** A request is refused as it is made, or by whatever acquires with it. */
    private static Stream<BadCall> badRequest(
            String description, Supplier<AcquireRequest> request, String... messageParts) {
        return Stream.of(
                new BadCall(
                        description + ", acquire",
                        node -> node.semaphores().acquire(request.get()),
                        IllegalArgumentException.class,
                        messageParts),
                new BadCall(
                        description + ", execute",
                        node -> node.semaphores().execute(request.get(), grant -> "work"),
                        IllegalArgumentException.class,
                        messageParts));
    }

    private static Stream<BadCall> bad(
            String description, Function<Node, @Nullable Object> call, String... messageParts) {
        return Stream.of(new BadCall(description, call, IllegalArgumentException.class, messageParts));
    }

    private static BadCall use(String what, BadKey key, Function<Node, @Nullable Object> call) {
        String[] messageParts =
                Stream.concat(Stream.of(what), Stream.of(key.parts())).toArray(String[]::new);
        return new BadCall(key + " as " + what, call, IllegalArgumentException.class, messageParts);
    }

    private static BadCall bad(
            String description,
            Function<Node, @Nullable Object> call,
            Class<? extends Exception> type,
            String... messageParts) {
        return new BadCall(description, call, type, messageParts);
    }

    private static BadKey key(String description, String text, String... parts) {
        return new BadKey(description, text, parts);
    }

    /** A call, what it throws, and what the message says. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record BadCall(
            String description,
            Function<Node, @Nullable Object> call,
            Class<? extends Exception> type,
            String... messageParts) {

        @Override
        public String toString() {
            return description;
        }
    }

    /** A text that is no name, no owner and no external id. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record BadKey(String description, String text, String... parts) {

        @Override
        public String toString() {
            return description;
        }
    }
}
