package io.dbsemaphore.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PerSemaphoreTests {

    private final PerSemaphore<String> values = PerSemaphore.all("default")
            .with("tenant:*", "all tenants")
            .with("tenant:eu:*", "tenants in Europe")
            .with("*:backup", "all backups")
            .with("tenant:eu:7", "tenant 7");

    @ParameterizedTest
    @CsvSource({
        "tenant:eu:7, tenant 7",
        "tenant:eu:8, tenants in Europe",
        "tenant:us:1, all tenants",
        "tenant:, all tenants",
        "nightly:backup, all backups",
        "tenant:eu:backup, tenants in Europe",
        "tenant, default",
        "TENANT:EU:7, default"
    })
    void areFoundByNameThenByTheLongestPattern(String name, String value) {
        assertThat(values.of(name)).isEqualTo(value);
    }

    /** Whatever the order in which they were set, and although the name is shorter than the pattern. */
    @Test
    void ofANameBeatThoseOfALongerPattern() {
        assertThat(PerSemaphore.all(0).with("ab", 1).with("a*b*", 2).of("ab")).isEqualTo(1);
        assertThat(PerSemaphore.all(0).with("a*b*", 2).with("ab", 1).of("ab")).isEqualTo(1);
    }

    @Test
    void areReplacedWhereTheyAreSetAgain() {
        PerSemaphore<String> changed = values.with("tenant:eu:7", "other").with("tenant:*", "others");

        assertThat(changed.of("tenant:eu:7")).isEqualTo("other");
        assertThat(changed.of("tenant:us:1")).isEqualTo("others");
        assertThat(values.of("tenant:eu:7")).as("the values before").isEqualTo("tenant 7");
        assertThat(values.of("tenant:us:1")).as("the values before").isEqualTo("all tenants");
    }

    @Test
    void doNotChangeWithTheMapsTheyWereMadeOf() {
        Map<String, Integer> byName = new HashMap<>(Map.of("backup", 1));
        Map<String, Integer> byPattern = new HashMap<>(Map.of("tenant:*", 2));
        PerSemaphore<Integer> made = new PerSemaphore<>(0, byName, byPattern);

        byName.put("backup", 7);
        byPattern.clear();

        assertThat(made.of("backup")).isEqualTo(1);
        assertThat(made.of("tenant:1")).isEqualTo(2);
    }
}
