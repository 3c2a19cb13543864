package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.Permits;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.SemaphoreAdmin.PermitUse;
import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** Operators see what holds the permits, on every instance: the label of the request, by default the method. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LabelIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Duration REUSE = Duration.ofSeconds(10);

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    private final Node node = cluster.node(0);
    private final Node operator = cluster.node(1);
    private final String name = cluster.semaphore(40);
    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

    @AfterEach
    void close() {
        context.close();
    }

    @Test
    void isTheMethodByDefault() {
        assertThat(backups().full(name, () -> labels(name))).containsExactly("Backups.full");
    }

    @Test
    void isEvaluatedForEachCall() {
        assertThat(backups().of(name, 17, () -> labels(name))).containsExactly("snapshot 17");
        assertThat(backups().of(name, 18, () -> labels(name))).containsExactly("snapshot 18");
    }

    @Test
    void isKnownToTheWork() {
        assertThat(backups().full(name, () -> Permits.current().label().stream().toList()))
                .containsExactly("Backups.full");
    }

    @Test
    void isEmptyUnlessTheRequestHasOne() {
        try (PermitGrant grant = acquire(AcquireRequest.of(name))) {
            assertThat(holders(name))
                    .singleElement()
                    .satisfies(holder -> assertThat(holder.label()).isEmpty());
            assertThat(grant.label()).isEmpty();
            assertThat(grant.toString()).endsWith("of " + grant.owner() + ", held]");
        }
    }

    @Test
    void isPartOfTheGrantInLogs() {
        try (PermitGrant grant = acquire(labelled("full backup"))) {
            assertThat(grant.label()).contains("full backup");
            assertThat(grant.toString()).endsWith("of " + grant.owner() + " for full backup, held]");
            assertThat(operator.semaphores().find(grant.externalId()))
                    .get()
                    .satisfies(found -> assertThat(found.label()).contains("full backup"));
        }
    }

    @Test
    void isInTheMessageOfARefusal() {
        String one = cluster.semaphore(1);
        try (PermitGrant grant =
                acquire(AcquireRequest.of(one).withOwner("nightly").withLabel("full backup"))) {
            Awaitility.await() // on a busy machine the first reading may come too late for its caller
                    .atMost(SOON)
                    .untilAsserted(() -> assertThatExceptionOfType(PermitsUnavailableException.class)
                            .isThrownBy(() -> operator.semaphores().acquire(AcquireRequest.of(one)))
                            .withMessageContaining("longest by nightly for full backup since %s", grant.acquiredAt()));
        }
    }

    @Test
    void staysInTheHistory() {
        Instant before = operator.admin().now();
        acquire(labelled("incremental")).release();
        acquire(AcquireRequest.of(name)).release();
        try (PermitGrant held = acquire(labelled("full"))) {
            assertThat(operator.admin().requests(name, before, held.acquiredAt().plusSeconds(60), 10))
                    .extracting(PermitUse::label)
                    .containsExactly(Optional.of("full"), Optional.empty(), Optional.of("incremental"));
        }
    }

    @Test
    void isFoundByAPartOfIt() {
        try (PermitGrant full = acquire(labelled("Backups.full"));
                PermitGrant other = acquire(labelled("Reports.daily"));
                PermitGrant none = acquire(AcquireRequest.of(name).withOwner("Backups"))) {
            assertThat(operator.admin().holders(name, "backUPS", 0, 10))
                    .extracting(PermitHolder::externalId)
                    .containsExactly(full.externalId(), none.externalId());
            assertThat(operator.admin().holders(name, "", 0, 10)).hasSize(3);
            assertThat(other.isHeld()).isTrue();
        }
    }

    @Test
    void ofARepeatedAcquireIsThatOfTheFirst() {
        AcquireRequest request = labelled("first").withExternalId(cluster.externalId());
        try (PermitGrant first = acquire(request);
                PermitGrant again = operator.semaphores().acquire(request.withLabel("second"))) {
            assertThat(again.isReplayed()).isTrue();
            assertThat(again.label()).contains("first");
            assertThat(labels(name)).containsExactly("first");
            assertThat(first.label()).contains("first");
        }
    }

    @Test
    void isThatOfTheCallerWhoWasHandedThePermit() throws Exception {
        String one = cluster.semaphore(1);
        PermitGrant first = acquire(AcquireRequest.of(one).withLabel("first"));
        Future<PermitGrant> second = Concurrently.async(
                () -> acquire(AcquireRequest.of(one).withLabel("second").withWaitTime(SOON)));
        Awaitility.await().until(() -> operator.admin().find(one).orElseThrow().waiting() == 1);

        first.release();

        try (PermitGrant next = Concurrently.get(second)) {
            assertThat(next.label()).contains("second");
            assertThat(labels(one)).containsExactly("second");
        }
    }

    /** Some with a label and some without, in the same transactions. */
    @Test
    void isThatOfEachCallerWhereManyShareATransaction() throws Exception {
        List<Future<PermitGrant>> acquires = new ArrayList<>();
        Map<String, Optional<String>> expected = new TreeMap<>();
        IntStream.range(0, 40).forEach(i -> {
            AcquireRequest request = AcquireRequest.of(name).withExternalId(cluster.externalId());
            AcquireRequest each = i % 2 == 0 ? request : request.withLabel("caller " + i);
            expected.put(each.externalId().orElseThrow(), each.label());
            acquires.add(Concurrently.async(() -> acquire(each.withWaitTime(SOON))));
        });
        for (Future<PermitGrant> each : acquires) {
            assertThat(Concurrently.get(each).isHeld()).isTrue();
        }

        Map<String, Optional<String>> shown = new TreeMap<>();
        holders(name).forEach(holder -> shown.put(holder.externalId(), holder.label()));
        assertThat(shown).isEqualTo(expected);
    }

    /** One row stands for one caller after the other: it shows none rather than that of a caller that has gone. */
    @Test
    void isNotShownForPermitsThatAreReused() {
        PerSemaphore<Duration> reuse = PerSemaphore.all(Duration.ZERO).with(name, REUSE);
        try (Node reusing = Node.on(cluster.schema(), TestSettings.defaults().with(SemaphoreSettings.REUSE, reuse))) {
            AcquireRequest kept = AcquireRequest.of(name).withKeepAlive(true);
            try (PermitGrant first = reusing.semaphores().acquire(kept.withLabel("first"))) {
                assertThat(labels(name)).isEmpty();
                assertThat(first.label()).isEmpty();
            }
            try (PermitGrant second = reusing.semaphores().acquire(kept.withLabel("second"))) {
                assertThat(second.isReused()).isTrue();
                assertThat(holders(name)).hasSize(1);
                assertThat(labels(name)).isEmpty();
                assertThat(second.label()).isEmpty();
            }
            try (PermitGrant alone =
                    reusing.semaphores().acquire(AcquireRequest.of(name).withLabel("not reused"))) {
                assertThat(alone.isReused()).isFalse();
                assertThat(labels(name)).containsExactly("not reused");
            }
        }
    }

    private AcquireRequest labelled(String label) {
        return AcquireRequest.of(name).withLabel(label);
    }

    private PermitGrant acquire(AcquireRequest request) {
        return node.semaphores().acquire(request);
    }

    private List<PermitHolder> holders(String of) {
        return operator.admin().holders(of);
    }

    private List<String> labels(String of) {
        return holders(of).stream().flatMap(holder -> holder.label().stream()).toList();
    }

    private Backups backups() {
        if (!context.isActive()) {
            AopConfigUtils.registerAutoProxyCreatorIfNecessary(context);
            AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(context);
            context.registerBean(SemaphoreOperations.class, node::semaphores, bean -> bean.setLazyInit(true));
            context.register(GuardedContext.AdvisorConfiguration.class, Backups.class);
            context.refresh();
        }
        return context.getBean(Backups.class);
    }

    static class Backups {

        @WithPermits("#{#semaphore}")
        List<String> full(String semaphore, Supplier<List<String>> work) {
            return work.get();
        }

        @WithPermits(names = "#{#semaphore}", label = "snapshot #{#id}")
        List<String> of(String semaphore, int id, Supplier<List<String>> work) {
            return work.get();
        }
    }
}
