package io.dbsemaphore.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SemaphoreSettingsTests {

    private final SemaphoreSettings defaults = SemaphoreSettings.defaults();

    @Test
    void changeOneSettingOnly() {
        SemaphoreSettings changed = defaults.with(SemaphoreSettings.PIPELINING, false)
                .with(SemaphoreSettings.TABLE_PREFIX, "app_")
                .with(SemaphoreSettings.MAX_ATTEMPTS, 7);

        assertThat(changed.get(SemaphoreSettings.PIPELINING)).isEqualTo(false);
        assertThat(changed.get(SemaphoreSettings.TABLE_PREFIX)).isEqualTo("app_");
        assertThat(changed.get(SemaphoreSettings.MAX_ATTEMPTS)).isEqualTo(7);
        assertThat(changed.get(SemaphoreSettings.MAX_BATCH_SIZE)).isEqualTo(500);
        assertThat(defaults.get(SemaphoreSettings.PIPELINING)).isEqualTo(true);
    }

    @Test
    void takeWhatAnApplicationHasPropertiesFor() {
        Map<String, Object> properties =
                Map.of("semaphore.jdbc.max-attempts", 7, "semaphore.maintenance.stale-after", Duration.ofDays(2));

        SemaphoreSettings bound = defaults.withProperties((property, type) -> properties.get(property));

        assertThat(bound.get(SemaphoreSettings.MAX_ATTEMPTS)).isEqualTo(7);
        assertThat(bound.get(MaintenanceSettings.STALE_AFTER)).isEqualTo(Duration.ofDays(2));
        assertThat(bound.get(SemaphoreSettings.MAX_TTL)).isEqualTo(Duration.ofDays(30));
    }

    @Test
    void refuseAPropertyThatIsOutOfBounds() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> defaults.withProperties(
                        (property, type) -> property.equals("semaphore.jdbc.max-batch-size") ? 0 : null))
                .withMessageContaining("semaphore.jdbc.max-batch-size must be at least 1, but is 0");
    }

    @Test
    void awaitADecisionAsLongAsALock() {
        SemaphoreSettings shortWait = defaults.with(SemaphoreSettings.LOCK_WAIT_TIMEOUT, Duration.ofSeconds(2));

        assertThat(shortWait.get(SemaphoreSettings.DECISION_TIMEOUT)).isEqualTo(Duration.ofSeconds(2));
        assertThat(shortWait
                        .with(SemaphoreSettings.DECISION_TIMEOUT, Duration.ofSeconds(9))
                        .get(SemaphoreSettings.DECISION_TIMEOUT))
                .isEqualTo(Duration.ofSeconds(9));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " a", "a\u0001b"})
    void nameTheOwnerThatIsNotValid(String owner) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> defaults.with(SemaphoreSettings.OWNER, owner))
                .withMessageContaining("semaphore.owner")
                .withMessageNotContaining("semaphore name");
    }

    @Test
    void sayNameBoundValueAndConsequence() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> defaults.with(MaintenanceSettings.BATCH_SIZE, 10_001))
                .withMessage("semaphore.maintenance.batch-size must be at most 10000, but is 10001: callers would wait"
                        + " for the locks of the maintenance");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> defaults.with(MaintenanceSettings.HISTORY_CLEANUP_INTERVAL, Duration.ofDays(106_752)))
                .withMessage(
                        "semaphore.maintenance.history-cleanup-interval must be at most PT876000H, but is PT2562048H:"
                                + " the clock of this JVM cannot count it");
    }

    @Test
    void canBeSetInAnyOrderButMustFitEachOther() {
        SemaphoreSettings shortTtl = defaults.with(SemaphoreSettings.MAX_TTL, Duration.ofMinutes(1));
        SemaphoreSettings longWait = defaults.with(SemaphoreSettings.LOCK_WAIT_TIMEOUT, Duration.ofSeconds(30));

        assertThatIllegalArgumentException()
                .isThrownBy(shortTtl::requireConsistent)
                .withMessage("semaphore.defaults.ttl must be at most PT1M, but is PT5M: requests without a TTL would be"
                        + " refused by semaphore.max-ttl");
        assertThatIllegalArgumentException()
                .isThrownBy(longWait::requireConsistent)
                .withMessage(
                        "semaphore.jdbc.session-idle-limit must be at least PT30S, but is PT10S: the server would end"
                                + " transactions within semaphore.jdbc.lock-wait-timeout");
        assertThatCode(shortTtl.with(SemaphoreSettings.DEFAULT_TTL, Duration.ofSeconds(30))::requireConsistent)
                .doesNotThrowAnyException();
    }

    @Test
    void giveNoWeightsWhereEachInstanceHasAQueueOfItsOwn() {
        SemaphoreSettings weighted = defaults.with(
                SemaphoreSettings.WEIGHTS,
                PerSemaphore.all(Map.<String, Integer>of())
                        .with("backup", Map.of("acme", 2))
                        .with("tenant:*", Map.of("acme/batch", 3))
                        .with("report", Map.of()));
        PerSemaphore<Boolean> fair = PerSemaphore.all(true);

        assertThatCode(weighted.with(SemaphoreSettings.FAIR, fair.with("report", false))::requireConsistent)
                .doesNotThrowAnyException();
        assertThatIllegalArgumentException()
                .isThrownBy(weighted.with(SemaphoreSettings.FAIR, fair.with("backup", false))::requireConsistent)
                .withMessage(
                        "semaphore.semaphores.backup.weights is set, but semaphore.semaphores.backup.fair is false: each"
                                + " instance has a queue of its own, in which no shares are kept. Set fair to true, or remove"
                                + " weights");
        assertThatIllegalArgumentException()
                .isThrownBy(weighted.with(SemaphoreSettings.FAIR, fair.with("tenant:*", false))::requireConsistent)
                .withMessageStartingWith(
                        "semaphore.patterns.[tenant:*].weights is set, but semaphore.patterns.[tenant:*].fair is false: ");
        assertThatIllegalArgumentException()
                .isThrownBy(weighted.with(SemaphoreSettings.FAIR, fair.with("back*", false))::requireConsistent)
                .withMessageStartingWith(
                        "semaphore.semaphores.backup.weights is set, but semaphore.patterns.[back*].fair is false: ");
        assertThatIllegalArgumentException()
                .isThrownBy(weighted.with(SemaphoreSettings.FAIR, PerSemaphore.all(false))::requireConsistent)
                .withMessageStartingWith(
                        "semaphore.semaphores.backup.weights is set, but semaphore.defaults.fair is false: ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "null",
            value = {
                "acme | 0 | .[acme] must be between 1 and 1000, but is 0: a share with a weight of 0 would wait forever",
                "acme/batch | 1001 | .[acme/batch] must be between 1 and 1000, but is 1001: ",
                "acme | null | .[acme] must be between 1 and 1000, but is null: ",
                "/batch | 1 | .[/batch] is malformed: The share has no tenant: '/batch'"
            })
    void giveNoWeightOutOfBounds(String share, @Nullable Integer weight, String message) {
        Map<String, Integer> weights = new HashMap<>();
        weights.put(share, weight);
        PerSemaphore<Map<String, Integer>> none = PerSemaphore.all(Map.of());

        assertThatIllegalArgumentException()
                .isThrownBy(() -> defaults.with(SemaphoreSettings.WEIGHTS, none.with("backup", weights)))
                .withMessageStartingWith("semaphore.semaphores.backup.weights" + message);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> defaults.with(SemaphoreSettings.WEIGHTS, none.with("tenant:*", weights)))
                .withMessageStartingWith("semaphore.patterns.[tenant:*].weights" + message);
    }

    @Test
    void keepTheWeightsThatWereChecked() {
        Map<String, Integer> weights = new HashMap<>(Map.of("acme", 1, "other", 1000));
        SemaphoreSettings weighted = defaults.with(
                SemaphoreSettings.WEIGHTS,
                PerSemaphore.all(Map.<String, Integer>of()).with("backup", weights));

        weights.put("acme", 0);

        assertThat(weighted.get(SemaphoreSettings.WEIGHTS).of("backup")).isEqualTo(Map.of("acme", 1, "other", 1000));
        assertThat(weighted.get(SemaphoreSettings.WEIGHTS).of("network")).isEmpty();
    }

    @Test
    void keepNoNewestCallersWhereAnyNumberMayWait() {
        PerSemaphore<OnFull> newestOfEach = PerSemaphore.all(OnFull.KEEP_OLDEST)
                .with("report", OnFull.KEEP_NEWEST)
                .with("tenant:*", OnFull.KEEP_NEWEST);
        PerSemaphore<Integer> ofReport = PerSemaphore.all(Integer.MAX_VALUE).with("report", 1);
        SemaphoreSettings unbounded = defaults.with(SemaphoreSettings.ON_FULL, newestOfEach);

        assertThatIllegalArgumentException()
                .isThrownBy(unbounded::requireConsistent)
                .withMessage(
                        "semaphore.semaphores.report.on-full is keep-newest, but neither max-waiting nor max-waiting-per-share is"
                                + " set: any number of callers could wait, and none would be refused. Set one of them, or remove"
                                + " on-full");
        assertThatIllegalArgumentException()
                .isThrownBy(unbounded.with(SemaphoreSettings.MAX_WAITING, ofReport)::requireConsistent)
                .withMessageStartingWith("semaphore.patterns.[tenant:*].on-full is keep-newest, but ");
        assertThatCode(unbounded.with(SemaphoreSettings.MAX_WAITING, ofReport.with("*", 3))::requireConsistent)
                .doesNotThrowAnyException();
        assertThatCode(
                        unbounded.with(SemaphoreSettings.MAX_WAITING_PER_SHARE, ofReport.with("*", 3))
                                ::requireConsistent)
                .doesNotThrowAnyException();
    }

    @Test
    void limitTheCallersOfAShareOnlyWhereSharesAreKept() {
        PerSemaphore<Integer> ofReport = PerSemaphore.all(Integer.MAX_VALUE).with("report", 1);
        SemaphoreSettings limited = defaults.with(SemaphoreSettings.MAX_WAITING_PER_SHARE, ofReport);
        PerSemaphore<Boolean> fair = PerSemaphore.all(true);

        assertThatCode(limited.with(SemaphoreSettings.FAIR, fair.with("backup", false))::requireConsistent)
                .doesNotThrowAnyException();
        assertThatIllegalArgumentException()
                .isThrownBy(limited.with(SemaphoreSettings.FAIR, fair.with("report", false))::requireConsistent)
                .withMessage(
                        "semaphore.semaphores.report.max-waiting-per-share is set, but semaphore.semaphores.report.fair is"
                                + " false: each instance has a queue of its own, in which no shares are kept. Set fair to true, or remove"
                                + " max-waiting-per-share");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> defaults.with(SemaphoreSettings.MAX_WAITING_PER_SHARE, ofReport.with("report", -1)))
                .withMessageContaining("with 0 no caller with a share waits");
    }
}
