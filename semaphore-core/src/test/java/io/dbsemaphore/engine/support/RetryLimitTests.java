package io.dbsemaphore.engine.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RetryLimitTests {

    private static final long LIMIT = Duration.ofSeconds(5).toNanos();
    private final SQLException conflict = new SQLException("", "40001");
    private final SQLException broken = new SQLException("", "08006");
    private final SQLException other = new SQLException("", "22001");

    @Test
    void limitsTheNumberOfAttemptsAfterConflicts() {
        assertThat(RetryLimit.remain(conflict, 2, 3, LIMIT * 2)).isTrue();
        assertThat(RetryLimit.remain(conflict, 3, 3, 0)).isFalse();
    }

    @Test
    void limitsTheTimeAfterBrokenConnections() {
        assertThat(RetryLimit.remain(broken, 3, 3, LIMIT - 1)).isTrue();
        assertThat(RetryLimit.remain(broken, 3, 3, LIMIT)).isFalse();
        assertThat(RetryLimit.remain(broken, 2, 3, LIMIT)).isTrue();
    }

    @Test
    void repeatsNothingIfOneAttemptIsAllowed() {
        assertThat(RetryLimit.remain(conflict, 1, 1, 0)).isFalse();
        assertThat(RetryLimit.remain(broken, 1, 1, 0)).isFalse();
        assertThat(RetryLimit.remain(broken, 2, 2, 0)).isTrue();
    }

    @Test
    void repeatsNothingThatWouldFailAgain() {
        assertThat(RetryLimit.remain(other, 1, 3, 0)).isFalse();
    }
}
