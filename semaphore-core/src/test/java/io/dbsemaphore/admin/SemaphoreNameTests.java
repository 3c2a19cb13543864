package io.dbsemaphore.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SemaphoreNameTests {

    private static final String HIGH = "\ud83d";
    private static final String LOW = "\ude00";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a",
                "tenant:42",
                "two words",
                "größer",
                HIGH + LOW,
                HIGH + LOW + HIGH + LOW,
                "a" + HIGH + LOW + "b"
            })
    void isAnyText(String name) {
        assertThat(SemaphoreName.requireValid(name)).isEqualTo(name);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {HIGH, LOW, LOW + HIGH, HIGH + LOW + HIGH, HIGH + LOW + LOW, HIGH + HIGH + LOW, "a" + HIGH + "b"})
    void hasNoHalfOfASurrogatePair(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SemaphoreName.requireValid(name))
                .withMessageContaining("half a surrogate pair");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\nb", "a\u007fb", "a\u0085b", "\u0000"})
    void hasNoControlCharacter(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SemaphoreName.requireValid(name))
                .withMessageContaining("control characters");
    }
}
