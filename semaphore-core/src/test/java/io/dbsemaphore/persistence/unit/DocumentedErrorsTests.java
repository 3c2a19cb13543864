package io.dbsemaphore.persistence.unit;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.jdbc.SqlErrorKind;
import io.dbsemaphore.jdbc.SqlErrors;
import jakarta.persistence.PersistenceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.orm.jpa.JpaSystemException;

/** The table of errors in {@code docs/databases.md} describes what the library does, and lists all errors that it handles. */
class DocumentedErrorsTests {

    private static final Pattern ERROR = Pattern.compile("`([0-9A-Z]{4,5})`");

    /** One error of a row of the table. */
    record Row(String error, String means, boolean again, String exception) {

        SQLException toException() {
            String message = switch (error) {
                case "1180" -> "Got error 149 - 'Lock deadlock; Retry transaction' during COMMIT";
                case "1290" -> "The server is running with the --read-only option";
                default -> "on purpose";
            };
            return error.matches("\\d{4}|\\d{5}") && !isState(error)
                    ? new SQLException(message, "HY000", Integer.parseInt(error))
                    : new SQLException(message, error, 0);
        }

        /** States of digits only; vendor codes of five digits are H2's own, which begin with 5020 or 9. */
        private static boolean isState(String error) {
            return error.length() == 5 && !error.equals("50200") && !error.startsWith("9");
        }

        @Override
        public String toString() {
            return error + ", " + means;
        }
    }

    static Stream<Row> rows() throws IOException {
        return Files.readAllLines(Path.of("../docs/databases.md")).stream()
                .filter(line -> Pattern.matches("\\| `[0-9A-Z]{4,5}`.*", line))
                .map(line -> line.split("\\|"))
                .flatMap(cells -> ERROR.matcher(cells[1])
                        .results()
                        .map(error -> new Row(
                                error.group(1),
                                cells[2].strip(),
                                cells[3].strip().startsWith("yes"),
                                cells[4].strip())));
    }

    @ParameterizedTest
    @MethodSource("rows")
    void isTheSameWhateverItIsWrappedIn(Row row) {
        SQLException error = row.toException();
        for (RuntimeException wrapped : List.of(
                new PersistenceException(error),
                new JpaSystemException(new PersistenceException(new SQLException("pool", error))),
                new UncategorizedSQLException("commit", null, error))) {
            assertThat(TransactionFailures.translate(wrapped).getClass().getSimpleName())
                    .isEqualTo(row.exception());
            assertThat(TransactionFailures.isWorthRepeating(wrapped)).isEqualTo(row.again());
        }
        assertThat(SqlErrors.isAnswerOfServer(error)).as("not committed").isEqualTo(!SqlErrors.isConnectionLost(error));
    }

    @Test
    void listAllThatTheLibraryKnows() throws IOException {
        List<String> known = Arrays.stream(SqlErrorKind.values())
                .flatMap(kind -> Stream.concat(
                        kind.states().stream(), kind.codes().stream().map(String::valueOf)))
                .toList();

        assertThat(rows().map(Row::error).filter(error -> !error.equals("08S01")))
                .containsExactlyInAnyOrderElementsOf(known);
    }

    @Test
    void anotherErrorAtACommitIsNoConflict() {
        SQLException diskFull =
                new SQLException("Got error 28 - 'No space left on device' during COMMIT", "HY000", 1180);

        assertThat(TransactionFailures.isWorthRepeating(diskFull)).isEqualTo(false);
        assertThat(SqlErrors.isAnswerOfServer(diskFull)).isEqualTo(true);
    }
}
