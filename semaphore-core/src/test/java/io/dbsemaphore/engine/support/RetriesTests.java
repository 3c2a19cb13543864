package io.dbsemaphore.engine.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RetriesTests {

    private static final long LIMIT = Duration.ofSeconds(5).toNanos();
    private static final Duration CONFLICTS = Duration.ofSeconds(2);
    private final SQLException duplicate = new SQLException("", "23505");
    private final SQLException conflict = new SQLException("", "40001");
    private final SQLException broken = new SQLException("", "08006");
    private final SQLException other = new SQLException("", "22001");

    @Test
    void limitsTheNumberOfAttemptsAfterConflictsOfContent() {
        assertThat(Retries.remain(duplicate, 2, 3, LIMIT * 2, CONFLICTS)).isTrue();
        assertThat(Retries.remain(duplicate, 3, 3, 0, CONFLICTS)).isFalse();
    }

    @Test
    void limitsTheTimeAfterRollbacksInFavorOfOthers() {
        assertThat(Retries.remain(conflict, 30, 3, CONFLICTS.toNanos() - 1, CONFLICTS))
                .isTrue();
        assertThat(Retries.remain(conflict, 3, 3, CONFLICTS.toNanos(), CONFLICTS))
                .isFalse();
        assertThat(Retries.remain(conflict, 2, 3, CONFLICTS.toNanos(), CONFLICTS))
                .isTrue();
    }

    @Test
    void limitsTheTimeAfterBrokenConnections() {
        assertThat(Retries.remain(broken, 3, 3, LIMIT - 1, CONFLICTS)).isTrue();
        assertThat(Retries.remain(broken, 3, 3, LIMIT, CONFLICTS)).isFalse();
        assertThat(Retries.remain(broken, 2, 3, LIMIT, CONFLICTS)).isTrue();
    }

    @Test
    void repeatsNothingIfOneAttemptIsAllowed() {
        assertThat(Retries.remain(conflict, 1, 1, 0, CONFLICTS)).isFalse();
        assertThat(Retries.remain(broken, 1, 1, 0, CONFLICTS)).isFalse();
        assertThat(Retries.remain(broken, 2, 2, 0, CONFLICTS)).isTrue();
    }

    @Test
    void repeatsNothingThatWouldFailAgain() {
        assertThat(Retries.remain(other, 1, 3, 0, CONFLICTS)).isFalse();
    }
}
