package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.spi.ShareWeights;
import io.dbsemaphore.testing.LoggedWarnings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class WeightsTests {

    private final AtomicLong now =
            new AtomicLong(Long.MAX_VALUE - Duration.ofSeconds(5).toNanos());
    private final AtomicReference<@Nullable ShareWeights> bean = new AtomicReference<>();
    private final Map<String, Integer> plans = new HashMap<>();
    private final List<String> asked = new ArrayList<>();
    private final ShareWeights ofPlans = (semaphore, share) -> {
        asked.add(semaphore + ":" + share);
        return plans.getOrDefault(share, 1);
    };
    private final Weights weights = new Weights(
            PerSemaphore.all(Map.<String, Integer>of())
                    .with("backup", Map.of("acme", 2, "acme/batch", 3))
                    .with("tenant:*", Map.of("gold", 5)),
            bean::get,
            now::get);

    @Test
    void areOneUnlessTheyAreConfigured() {
        assertThat(weights.applyAsInt("backup", "acme")).isEqualTo(2);
        assertThat(weights.applyAsInt("backup", "acme/batch")).isEqualTo(3);
        assertThat(weights.applyAsInt("backup", "acme/web")).isEqualTo(1);
        assertThat(weights.applyAsInt("backup", "other")).isEqualTo(1);
        assertThat(weights.applyAsInt("backup", "")).isEqualTo(1);
        assertThat(weights.applyAsInt("tenant:a", "gold")).isEqualTo(5);
        assertThat(weights.applyAsInt("network", "acme")).isEqualTo(1);
    }

    @Test
    void areThoseOfTheBeanOnceItWasAsked() {
        plans.put("silver", 7);
        plans.put("silver/batch", 8);
        bean.set(ofPlans);

        assertThat(weights.applyAsInt("backup", "silver")).as("not asked yet").isEqualTo(1);
        assertThat(asked).isEmpty();
        weights.refresh("backup", "silver/batch");

        assertThat(asked).containsExactly("backup:silver", "backup:silver/batch");
        assertThat(weights.applyAsInt("backup", "silver")).isEqualTo(7);
        assertThat(weights.applyAsInt("backup", "silver/batch")).isEqualTo(8);
        assertThat(weights.applyAsInt("network", "silver"))
                .as("not asked about")
                .isEqualTo(1);
    }

    @Test
    void areAskedForBeforeARequestIsQueued() {
        bean.set(ofPlans);

        weights.refresh(AcquireRequest.of("network").withShare("silver/batch").withPermits("disk", 2));
        weights.refresh(AcquireRequest.of("network"));

        assertThat(asked)
                .containsExactlyInAnyOrder(
                        "network:silver", "network:silver/batch", "disk:silver", "disk:silver/batch");
    }

    @Test
    void areNotAskedForWhereTheyAreConfigured() {
        plans.put("acme", 9);
        plans.put("gold", 9);
        bean.set(ofPlans);

        weights.refresh("backup", "acme/batch");
        weights.refresh("tenant:a", "gold");
        weights.refresh("backup", "");

        assertThat(asked).isEmpty();
        assertThat(weights.applyAsInt("backup", "acme")).isEqualTo(2);
    }

    @Test
    void areAskedForAgainAfterTenSeconds() {
        plans.put("silver", 7);
        bean.set(ofPlans);
        weights.refresh("backup", "silver");
        plans.put("silver", 8);

        passes(Duration.ofSeconds(10).minusNanos(1));
        weights.refresh("backup", "silver");
        assertThat(asked).hasSize(1);
        assertThat(weights.applyAsInt("backup", "silver")).isEqualTo(7);

        passes(Duration.ofNanos(1));
        weights.refresh("backup", "silver");
        assertThat(asked).hasSize(2);
        assertThat(weights.applyAsInt("backup", "silver")).isEqualTo(8);
    }

    /** A bean that asks for the weight that it is asked for, as one that acquires permits would. */
    @Test
    void areNotAskedForTwiceAtATime() {
        plans.put("silver", 7);
        bean.set(ofPlans);
        weights.refresh("backup", "silver");
        passes(Duration.ofSeconds(10));
        bean.set((semaphore, share) -> {
            asked.add("again");
            weights.refresh(semaphore, share);
            return weights.applyAsInt(semaphore, share) + 1;
        });

        weights.refresh("backup", "silver");

        assertThat(asked).containsExactly("backup:silver", "again");
        assertThat(weights.applyAsInt("backup", "silver")).isEqualTo(8);
    }

    @Test
    void areAskedForAsSoonAsTheBeanIsKnown() {
        plans.put("silver", 7);
        weights.refresh("backup", "silver");
        assertThat(weights.applyAsInt("backup", "silver")).isEqualTo(1);

        bean.set(ofPlans);
        weights.refresh("backup", "silver");

        assertThat(weights.applyAsInt("backup", "silver")).isEqualTo(7);
    }

    @Test
    void areOneIfTheBeanFails() {
        plans.put("small", 0);
        plans.put("large", 1_001);
        plans.put("largest", 1_000);
        bean.set(ofPlans);

        assertThat(LoggedWarnings.of(Weights.class, () -> weights.refresh("backup", "small")))
                .containsExactly(
                        "ShareWeights gave no weight for share 'small' of semaphore 'backup': it returned 0, which"
                                + " is not between 1 and 1000. Its weight is 1. Further warnings about this semaphore are not logged"
                                + " for an hour");
        assertThat(LoggedWarnings.of(Weights.class, () -> weights.refresh("network", "large")))
                .singleElement()
                .asString()
                .contains("share 'large' of semaphore 'network': it returned 1001");
        assertThat(LoggedWarnings.of(Weights.class, () -> weights.refresh("disk", "largest")))
                .isEmpty();
        assertThat(weights.applyAsInt("backup", "small")).isEqualTo(1);
        assertThat(weights.applyAsInt("network", "large")).isEqualTo(1);
        assertThat(weights.applyAsInt("disk", "largest")).isEqualTo(1_000);
    }

    @Test
    void areWarnedOfOnceAnHour() {
        bean.set((semaphore, share) -> {
            throw new AssertionError("no plan");
        });

        assertThat(LoggedWarnings.of(Weights.class, () -> {
                    for (int share = 0; share < 10; share++) {
                        weights.refresh("backup", "share" + share);
                    }
                    passes(Duration.ofHours(1).minusNanos(1));
                    weights.refresh("backup", "share0");
                }))
                .singleElement()
                .asString()
                .contains("share 'share0' of semaphore 'backup': it threw an exception.");
        passes(Duration.ofNanos(1));
        assertThat(LoggedWarnings.of(Weights.class, () -> weights.refresh("backup", "share1")))
                .hasSize(1);
        assertThat(weights.applyAsInt("backup", "share1")).isEqualTo(1);
    }

    @Test
    void areForgottenWhereTheyWereNotAskedForTheLongest() {
        bean.set((semaphore, share) -> 7);
        weights.refresh("backup", "first");
        weights.refresh("backup", "second");
        passes(Duration.ofSeconds(10));
        weights.refresh("backup", "first");

        for (int other = 0; other < 99_999; other++) {
            weights.refresh("backup", "other" + other);
        }

        assertThat(weights.applyAsInt("backup", "first")).isEqualTo(7);
        assertThat(weights.applyAsInt("backup", "second")).isEqualTo(1);
    }

    @Test
    void areWarnedOfIfAnotherInstanceHasHadOthersForTwentySeconds() {
        Map<String, Integer> recorded = Map.of("acme", 2, "acme/batch", 4, "other", 1);

        assertThat(LoggedWarnings.of(Weights.class, () -> {
                    weights.compare("backup", recorded);
                    passes(Duration.ofSeconds(20).minusNanos(1));
                    weights.compare("backup", recorded);
                }))
                .as("the other one may ask its bean again")
                .isEmpty();
        assertThat(LoggedWarnings.of(Weights.class, () -> {
                    passes(Duration.ofNanos(1));
                    weights.compare("backup", recorded);
                    passes(Duration.ofMinutes(59));
                    weights.compare("backup", recorded);
                }))
                .containsExactly(
                        "Share 'acme/batch' of semaphore 'backup' has the weight 3 here, and 4 in another instance."
                                + " The larger one counts while its callers wait in both. Give all instances the same"
                                + " weights. Further warnings about this semaphore are not logged for an hour");
    }

    @Test
    void areNotWarnedOfIfNothingWasSeenInBetween() {
        assertThat(LoggedWarnings.of(Weights.class, () -> {
                    weights.compare("backup", Map.of("acme", 3));
                    passes(Duration.ofHours(5));
                    weights.compare("backup", Map.of("acme", 3));
                }))
                .isEmpty();
    }

    @Test
    void areNotWarnedOfWhileTheyAreThoseOfTheOtherInstances() {
        Map<String, Integer> same = Map.of("acme", 2, "acme/batch", 3, "other", 1);

        assertThat(LoggedWarnings.of(Weights.class, () -> {
                    for (int seconds = 0; seconds < 60; seconds++) {
                        weights.compare("backup", same);
                        passes(Duration.ofSeconds(1));
                    }
                }))
                .isEmpty();
    }

    /** As after a change of the weights that one instance has learned before another. */
    @Test
    void areNotWarnedOfIfTheyDifferForAShortTimeAgainAndAgain() {
        assertThat(LoggedWarnings.of(Weights.class, () -> {
                    for (int change = 0; change < 10; change++) {
                        weights.compare("backup", Map.of("acme", 3));
                        passes(Duration.ofSeconds(15));
                        weights.compare("network", Map.of("acme", 1 + change % 2));
                        weights.compare("backup", Map.of("acme", 2));
                    }
                }))
                .isEmpty();
    }

    /** The bean is asked about shares that have callers in other instances only. */
    @Test
    void areThoseOfTheBeanWhenTheyAreCompared() {
        plans.put("silver", 7);
        bean.set(ofPlans);

        assertThat(LoggedWarnings.of(Weights.class, () -> {
                    weights.compare("network", Map.of("silver", 7));
                    passes(Duration.ofSeconds(20));
                    weights.compare("network", Map.of("silver", 7));
                }))
                .isEmpty();
        assertThat(asked).containsExactly("network:silver", "network:silver");
    }

    private void passes(Duration time) {
        now.addAndGet(time.toNanos());
    }
}
