package io.dbsemaphore.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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

    @ParameterizedTest
    @ValueSource(strings = {"acme", "acme/batch", "acme/batch/1", "acme//", "*", "acme /batch"})
    void isAShareWithATenantAndPerhapsAKey(String share) {
        assertThat(SemaphoreName.requireValidShare(share)).isEqualTo(share);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            ignoreLeadingAndTrailingWhitespace = false,
            value = {
                "/|The share has no tenant: '/'",
                "/batch|The share has no tenant: '/batch'. Write it as 'tenant' or 'tenant/key'",
                "acme/|The share has no key: 'acme/'. Write it as 'tenant' or 'tenant/key'",
                " acme|The share must not begin or end with a space: ' acme'",
                "acme/ |The share must not begin or end with a space: 'acme/ '"
            })
    void isNoShareWithoutTenantOrKey(String share, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SemaphoreName.requireValidShare(share))
                .withMessageStartingWith(message);
    }

    @Test
    void isNoShareIfItIsTooLong() {
        assertThat(SemaphoreName.requireValidShare("t".repeat(95) + "/" + "k".repeat(94)))
                .hasSize(SemaphoreName.MAX_LENGTH);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SemaphoreName.requireValidShare("t".repeat(95) + "/" + "k".repeat(95)))
                .withMessageContaining("The share has 191 characters, at most 190 are allowed");
        assertThat(SemaphoreName.requireValidShare("t".repeat(189))).hasSize(189);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SemaphoreName.requireValidShare("t".repeat(190)))
                .withMessageContaining("The tenant has 190 characters, at most 189 are allowed");
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "bakcup, backup",
                "backups, backup",
                "Backup, backup",
                "nightly-reprot-of-eu, nightly-report-of-us",
                "netwrok, network",
                "reports, -",
                "up, -",
                "b, -"
            })
    void findsTheNameThatAMisspelledOneStandsFor(String misspelled, @Nullable String meant) {
        List<String> names = List.of("backup", "network", "db", "nightly-report-of-us");

        assertThat(SemaphoreName.nearest(misspelled, names)).isEqualTo(Optional.ofNullable(meant));
    }
}
