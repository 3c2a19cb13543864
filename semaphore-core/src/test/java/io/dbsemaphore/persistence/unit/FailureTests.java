package io.dbsemaphore.persistence.unit;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class FailureTests {

    private static final long LIMIT = Duration.ofSeconds(5).toNanos();
    private static final Duration CONFLICTS = Duration.ofSeconds(2);
    private final SQLException duplicate = new SQLException("", "23505");
    private final SQLException conflict = new SQLException("", "40001");
    private final SQLException broken = new SQLException("", "08006");
    private final SQLException other = new SQLException("", "22001");

    @Test
    void limitsTheNumberOfAttemptsAfterConflictsOfContent() {
        assertThat(Failure.of(duplicate).retriesRemain(2, 3, LIMIT * 2, CONFLICTS))
                .isTrue();
        assertThat(Failure.of(duplicate).retriesRemain(3, 3, 0, CONFLICTS)).isFalse();
    }

    @Test
    void limitsTheTimeAfterRollbacksInFavorOfOthers() {
        assertThat(Failure.of(conflict).retriesRemain(30, 3, CONFLICTS.toNanos() - 1, CONFLICTS))
                .isTrue();
        assertThat(Failure.of(conflict).retriesRemain(3, 3, CONFLICTS.toNanos(), CONFLICTS))
                .isFalse();
        assertThat(Failure.of(conflict).retriesRemain(2, 3, CONFLICTS.toNanos(), CONFLICTS))
                .isTrue();
    }

    @Test
    void limitsTheTimeAfterBrokenConnections() {
        assertThat(Failure.of(broken).retriesRemain(3, 3, LIMIT - 1, CONFLICTS)).isTrue();
        assertThat(Failure.of(broken).retriesRemain(3, 3, LIMIT, CONFLICTS)).isFalse();
        assertThat(Failure.of(broken).retriesRemain(2, 3, LIMIT, CONFLICTS)).isTrue();
    }

    @Test
    void repeatsNothingIfOneAttemptIsAllowed() {
        assertThat(Failure.of(conflict).retriesRemain(1, 1, 0, CONFLICTS)).isFalse();
        assertThat(Failure.of(broken).retriesRemain(1, 1, 0, CONFLICTS)).isFalse();
        assertThat(Failure.of(broken).retriesRemain(2, 2, 0, CONFLICTS)).isTrue();
    }

    @Test
    void repeatsNothingThatWouldFailAgain() {
        assertThat(Failure.of(other).retriesRemain(1, 3, 0, CONFLICTS)).isFalse();
    }
}
