package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One instance grants permits to random callers in the very order of the {@link ShareRules}. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ShareRulesIntegrationTests {

    private static final int EVENTS = 70;
    private static final int MOST_WAITING = 12;
    private static final Map<String, Integer> WEIGHTS = Map.of("b", 3, "a/y", 3, "a/z", 6, "b/y", 3, "b/z", 6);
    private static final List<String> SHARES =
            List.of("a/x", "a/y", "a/z", "b/x", "b/y", "b/z", "a/x", "b/x", "a", "c");

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private static Node node;

    @BeforeAll
    static void start() {
        node = cluster.start(
                cluster.schema().newPool(6),
                TestSettings.defaults().with(SemaphoreSettings.WEIGHTS, PerSemaphore.all(WEIGHTS)));
    }

    @RepeatedTest(4)
    void oneByOne() {
        compare(1);
    }

    @RepeatedTest(4)
    void withSeveralPermits() {
        compare(3);
    }

    /** Callers come, and permits are released, in random order. After each of that the two must agree on who is granted permits. */
    private static void compare(int capacity) {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        ShareCallers line = new ShareCallers(List.of(node), cluster.semaphore(capacity));
        ShareRules rules = new ShareRules(capacity, share -> WEIGHTS.getOrDefault(share, 1));
        List<String> events = new ArrayList<>();
        List<String> expected = new ArrayList<>();
        List<Integer> held = new ArrayList<>();
        for (int i = 0; i < EVENTS || rules.waiting() > 0; i++) {
            List<ShareRules.Caller> granted;
            if (i < EVENTS && (held.isEmpty() || (rules.waiting() < MOST_WAITING && random.nextInt(100) < 55))) {
                String share = SHARES.get(random.nextInt(SHARES.size()));
                ShareRules.Caller caller = new ShareRules.Caller(i, share, capacity == 1 ? 1 : 1 + random.nextInt(2));
                granted = rules.join(caller);
                events.add(nameOf(caller));
                begin(line, caller);
            } else {
                granted = rules.release(held.remove(0));
                events.add("release");
                line.release();
            }
            granted.forEach(caller -> {
                expected.add(nameOf(caller));
                held.add(caller.permits());
            });
            try {
                granted.forEach(caller -> line.take());
                line.awaitWaiting();
                assertThat(line.served()).isEqualTo(expected);
            } catch (AssertionError | ConditionTimeoutException wrong) {
                throw new AssertionError(
                        "Seed %d, after %s: expected %s".formatted(seed, events, String.join(" ", expected)), wrong);
            }
        }
        line.releaseAll();
    }

    private static void begin(ShareCallers line, ShareRules.Caller caller) {
        AcquireRequest request =
                AcquireRequest.of(line.name(), caller.permits()).withWaitTime(ShareCallers.WAIT_TIME);
        line.begin(nameOf(caller), request.withShare(caller.share()));
    }

    private static String nameOf(ShareRules.Caller caller) {
        return caller.number() + "=" + caller.share() + ":" + caller.permits();
    }
}
