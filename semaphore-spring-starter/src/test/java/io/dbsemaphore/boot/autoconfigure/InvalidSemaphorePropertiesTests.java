package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Properties that cannot work are refused by a message that names them. */
class InvalidSemaphorePropertiesTests extends SemaphorePropertiesFixture {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "reuse=1m | semaphore.semaphores.partner.reuse must be between 10ms and 10s, or zero, but is PT1M: permits would",
                "max-waiting=-1 | semaphore.semaphores.partner.max-waiting must be at least 0, but is -1: with 0 no caller waits",
                "max-waiting-per-share=-1 | semaphore.semaphores.partner.max-waiting-per-share must be at least 0, but is -1: with 0 no caller with a share waits",
                "on-full=keep-newest | semaphore.semaphores.partner.on-full is keep-newest, but neither max-waiting nor max-waiting-per-share is set: ",
                "weights.acme=0 | semaphore.semaphores.partner.weights.[acme] must be between 1 and 1000, but is 0: a share with a weight of 0",
                "weights.acme=1001 | semaphore.semaphores.partner.weights.[acme] must be between 1 and 1000, but is 1001: ",
                "weights.acme=-1 | semaphore.semaphores.partner.weights.[acme] must be between 1 and 1000, but is -1: ",
                "weights.[acme/]=1 | semaphore.semaphores.partner.weights.[acme/] is malformed: The share has no key: 'acme/'",
                "wait-time=-1s | semaphore.semaphores.partner.wait-time must be at least PT0S, but is PT-1S: to not wait use zero",
                "max-hold=30 | semaphore.semaphores.partner.max-hold must be at least PT1S, but is PT0.03S: a grant would end before its work"
            })
    void refuseWhatCannotWorkForASemaphore(String property, String message) {
        String[] keyAndValue = property.split("=", 2);
        with(Map.of(
                        "semaphore.semaphores.partner.capacity",
                        "3",
                        "semaphore.semaphores.partner." + keyAndValue[0],
                        keyAndValue[1]))
                .run(context ->
                        assertThat(context.getStartupFailure()).rootCause().hasMessageContaining(message));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "semaphore.semaphores.partner | semaphore.semaphores.partner.fair",
                "semaphore.semaphores.partner | semaphore.defaults.fair",
                "semaphore.patterns.[tenant:*] | semaphore.patterns.[tenant:*].fair",
                "semaphore.patterns.[tenant:*] | semaphore.defaults.fair"
            })
    void refuseToLimitTheCallersOfAShareWhereNoSharesAreKept(String semaphore, String fair) {
        with(Map.of(semaphore + ".capacity", "3", semaphore + ".max-waiting-per-share", "1", fair, "false"))
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageStartingWith(
                                semaphore + ".max-waiting-per-share is set, but " + fair + " is false: "));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "semaphore.semaphores.backup.capacity=-1 | semaphore.semaphores.backup.capacity must be at least 0: -1",
                "semaphore.semaphores.[tenant:a].capacity=-2 | semaphore.semaphores.[tenant:a].capacity must be at least 0: -2",
                "semaphore.semaphores.[ a].capacity=1 | semaphore.semaphores.[ a] is not valid. The semaphore name must not begin or end with a space",
                "semaphore.owner=a\u0001b | The semaphore.owner must not contain control characters",
                "semaphore.jdbc.table-prefix=a-b | semaphore.jdbc.table-prefix must be up to 30 letters, digits, _, but is a-b: no table can be named so",
                "semaphore.defaults.ttl=10 | semaphore.defaults.ttl must be at least PT1S, but is PT0.01S: a grant would expire",
                "semaphore.defaults.ttl=31d | semaphore.defaults.ttl must be at most PT720H, but is PT744H: requests without a TTL would be refused",
                "semaphore.max-ttl=4000d | semaphore.max-ttl must be at most PT87600H, but is PT96000H: for grants that last until released",
                "semaphore.max-head-start=-1s | semaphore.max-head-start must be at least PT0S, but is PT-1S: to allow no head starts use zero",
                "semaphore.max-head-start=366d | semaphore.max-head-start must be at most PT8760H, but is PT8784H: callers without a head start",
                "semaphore.defaults.max-hold=24 | semaphore.defaults.max-hold must be at least PT1S, but is PT0.024S: a grant would end before its work",
                "semaphore.defaults.wait-time=-1s | semaphore.defaults.wait-time must be at least PT0S, but is PT-1S: to not wait use zero",
                "semaphore.jdbc.lock-wait-timeout=100ms | semaphore.jdbc.lock-wait-timeout must be at least PT1S, but is PT0.1S: some databases count lock timeouts in whole seconds",
                "semaphore.jdbc.decision-timeout=0s | semaphore.jdbc.decision-timeout must be at least PT1S, but is PT0S: callers would give up",
                "semaphore.jdbc.session-idle-limit=4s | semaphore.jdbc.session-idle-limit must be at least PT5S, but is PT4S: the server would end transactions",
                "semaphore.jdbc.max-attempts=0 | semaphore.jdbc.max-attempts must be at least 1, but is 0: ",
                "semaphore.max-names-per-request=0 | semaphore.max-names-per-request must be at least 1, but is 0: ",
                "semaphore.jdbc.max-batch-size=0 | semaphore.jdbc.max-batch-size must be at least 1, but is 0: ",
                "semaphore.jdbc.max-connections=0 | semaphore.jdbc.max-connections must be at least 1, but is 0: the database",
                "semaphore.max-pattern-semaphores=0 | semaphore.max-pattern-semaphores must be at least 1, but is 0: the patterns",
                "semaphore.patterns.[*].capacity=1 | semaphore.patterns[*] would match every name",
                "semaphore.jdbc.schema-wait=-1s | semaphore.jdbc.schema-wait must be at least PT0S, but is PT-1S: to not wait use zero",
                "semaphore.maintenance.batch-size=0 | semaphore.maintenance.batch-size must be at least 1, but is 0: nothing"
            })
    void refuseWhatCannotWork(String property, String message) {
        String[] keyAndValue = property.split("=", 2);
        with(Map.of(keyAndValue[0], keyAndValue[1]))
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOfAny(IllegalArgumentException.class, SemaphoreConfigurationException.class)
                        .hasMessageContaining(message));
    }

    @ParameterizedTest
    @ValueSource(strings = {"many", ""})
    void nameThePropertyOfAValueThatIsNoNumber(String value) {
        with(Map.of("semaphore.semaphores.backup.capacity", value))
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("'semaphore.semaphores.backup.capacity'"));
    }
}
