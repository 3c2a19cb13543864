package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import java.util.EnumSet;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How errors are classified, without a database; the tests of each database show which errors it reports. */
class SqlErrorsTests {

    private static final Map<SqlErrorKind, Predicate<Throwable>> QUESTIONS = Map.of(
            SqlErrorKind.VICTIM, SqlErrors::isVictim,
            SqlErrorKind.LOCK_TIMEOUT, SqlErrors::isLockWait,
            SqlErrorKind.READ_ONLY, SqlErrors::isReadOnly,
            SqlErrorKind.SESSION_ENDED, SqlErrors::isConnectionLost);

    @ParameterizedTest
    @EnumSource(names = "VICTIM_AT_COMMIT", mode = EnumSource.Mode.EXCLUDE)
    void knowEachStateAndEachCodeOfOneKindOnly(SqlErrorKind kind) {
        kind.states().forEach(state -> isOnly(kind, error("", state, 0)));
        kind.codes().forEach(code -> isOnly(kind, error(code == 1290 ? "--super-read-only" : "", "", code)));
    }

    private static void isOnly(SqlErrorKind kind, SQLException error) {
        for (SqlErrorKind each : EnumSet.complementOf(EnumSet.of(SqlErrorKind.VICTIM_AT_COMMIT))) {
            assertThat(SqlErrors.is(new IllegalStateException(error), each))
                    .as("%s as %s", error, each)
                    .isEqualTo(each == kind);
        }
        QUESTIONS.forEach((each, question) ->
                assertThat(question.test(error)).as("%s as %s", error, each).isEqualTo(each == kind));
        assertThat(SqlErrors.isConflict(error))
                .as("conflict: %s", error)
                .isEqualTo(kind == SqlErrorKind.VICTIM
                        || kind == SqlErrorKind.LOCK_TIMEOUT
                        || kind == SqlErrorKind.OBSTACLE);
    }

    /** With a URL of several hosts. The commit that failed may have been executed by the host before. */
    @Test
    void knowThatMariaDbsDriverHasConnectedToAnotherHost() {
        SQLException moved = new SQLTransientConnectionException(
                "Driver has reconnect connection after a communications link failure during a COMMIT statement",
                "25S03");

        assertThat(SqlErrors.isConnectionLost(moved)).isTrue();
        assertThat(SqlErrors.isAnswerOfServer(moved)).isFalse();
        assertThat(SqlErrors.isPoolExhausted(moved)).isFalse();
    }

    /** HikariCP's has the state of the last failure to connect. */
    @Test
    void knowAnExhaustedPoolByItsException() {
        SQLException starting = error("the database system is starting up", "57P03", 0);
        SQLException exhausted =
                new SQLTransientConnectionException("Connection is not available", "57P03", 0, starting);

        assertThat(SqlErrors.isPoolExhausted(exhausted)).isTrue();
        assertThat(SqlErrors.isPoolExhausted(starting)).isFalse();
    }

    @Test
    void takeAnErrorDuringTheCommitForAConflictByItsMessage() {
        for (String conflict : new String[] {
            "Got error 149 \"Lock deadlock\" during COMMIT", "Got error 146 \"Lock timed out\"\nduring COMMIT"
        }) {
            assertThat(SqlErrors.isVictim(error(conflict, "HY000", 1180)))
                    .as(conflict)
                    .isTrue();
            assertThat(SqlErrors.isConflict(error(conflict, "HY000", 1180)))
                    .as(conflict)
                    .isTrue();
            assertThat(SqlErrors.isVictim(error(conflict, "HY000", 1181)))
                    .as(conflict)
                    .isFalse();
        }
        assertThat(SqlErrors.isVictim(error("Got error 1490 during COMMIT", "HY000", 1180)))
                .isFalse();
        assertThat(SqlErrors.isVictim(error(null, null, 1180))).isFalse();
    }

    @Test
    void knowAConnectionThatIsReadOnlyByStateAndMessage() {
        assertThat(SqlErrors.isReadOnly(error("Connection is read-only. Queries", "S1009", 0)))
                .isTrue();
        assertThat(SqlErrors.isReadOnly(error("Connection is read-only", "S1000", 0)))
                .isFalse();
        assertThat(SqlErrors.isReadOnly(error("Illegal value", "S1009", 0))).isFalse();
        assertThat(SqlErrors.isReadOnly(error(null, null, 0))).isFalse();
    }

    /** MySQL and MariaDB have one error for all options that reject a statement. */
    @Test
    void knowAReadOnlyServerByTheOptionThatItNames() {
        for (String option :
                new String[] {"--read-only", "--super-read-only", "--read_only=ON", "--innodb_read_only"}) {
            assertThat(SqlErrors.isReadOnly(running(option))).as(option).isTrue();
        }
        for (String option :
                new String[] {"NO_ENGINE_SUBSTITUTION", "--secure-file-priv", "--skip-grant-tables", "--spread-only"}) {
            assertThat(SqlErrors.isReadOnly(running(option))).as(option).isFalse();
        }
        assertThat(SqlErrors.isReadOnly(error(null, null, 1290))).isFalse();
    }

    private static SQLException running(String option) {
        return error(
                "The MySQL server is running with the %s option so it cannot execute this statement".formatted(option),
                "HY000",
                1290);
    }

    @Test
    void takeAConnectionForLostByStateOrType() {
        assertThat(SqlErrors.isConnectionLost(error("", "08S01", 0))).isTrue();
        assertThat(SqlErrors.isConnectionLost(new SQLRecoverableException())).isTrue();
        assertThat(SqlErrors.isConnectionLost(new SQLNonTransientConnectionException()))
                .isTrue();
        assertThat(SqlErrors.isConnectionLost(error("", "40001", 0))).isFalse();
        assertThat(SqlErrors.isConnectionLost(new IllegalStateException())).isFalse();
    }

    @Test
    void tellWhetherTheServerHasAnswered() {
        assertThat(SqlErrors.isAnswerOfServer(error("", "22001", 0))).isTrue();
        assertThat(SqlErrors.isAnswerOfServer(error("", "08006", 0))).isFalse();
        assertThat(SqlErrors.isAnswerOfServer(error("", null, 0))).isFalse();
        assertThat(SqlErrors.isAnswerOfServer(new IllegalStateException())).isFalse();
    }

    @Test
    void findAnExhaustedPoolAnywhereInTheChain() {
        SQLException timeout = new SQLTransientConnectionException("no connection", error("", "08001", 0));
        assertThat(SqlErrors.isPoolExhausted(new IllegalStateException(timeout)))
                .isTrue();
        assertThat(SqlErrors.isPoolExhausted(error("", "08001", 0))).isFalse();
    }

    @Test
    void findTheInnermostAndTheOutermostError() {
        SQLException inner = error("", "40001", 0);
        SQLException outer = new SQLException("wrapped", inner);
        RuntimeException failure = new IllegalStateException(new IllegalArgumentException(outer));
        assertThat(SqlErrors.root(failure)).containsSame(inner);
        assertThat(SqlErrors.outermost(failure)).containsSame(outer);
        assertThat(SqlErrors.root(new IllegalStateException())).isEmpty();
        assertThat(SqlErrors.outermost(new IllegalStateException())).isEmpty();
    }

    private static SQLException error(@Nullable String message, @Nullable String state, int code) {
        return new SQLException(message, state, code);
    }
}
