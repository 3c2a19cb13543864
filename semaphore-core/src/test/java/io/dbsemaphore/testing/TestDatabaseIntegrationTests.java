package io.dbsemaphore.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;

class TestDatabaseIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @Test
    void databasesAreApart() {
        try (TestDatabase.Schema one = TestDatabase.create();
                TestDatabase.Schema other = TestDatabase.create()) {
            one.jdbc().execute("create table note (id int primary key)");
            other.jdbc().execute("create table note (id int primary key)");
            one.jdbc().update("insert into note (id) values (1)");

            assertThat(count(one.jdbc())).isEqualTo(1);
            assertThat(count(other.jdbc())).isZero();
        }
    }

    @Test
    void poolsAreClosedWithTheDatabase() {
        HikariDataSource pool;
        try (TestDatabase.Schema database = TestDatabase.create()) {
            pool = database.newPool(2);
            assertThat(pool.isRunning()).isTrue();
        }
        assertThat(pool.isClosed()).isTrue();
    }

    @Test
    void isDroppedAlthoughATransactionIsOpen() throws SQLException {
        TestDatabase.Schema database = TestDatabase.create();
        database.jdbc().execute("create table note (id int primary key)");
        try (HikariDataSource foreign = new HikariDataSource()) {
            foreign.setJdbcUrl(database.jdbcUrl());
            foreign.setUsername(database.username());
            foreign.setPassword(database.password());
            foreign.setMaximumPoolSize(1);
            // Left to the pool: once the database is gone they cannot be closed any more.
            Connection connection = foreign.getConnection();
            Statement statement = connection.createStatement();
            connection.setAutoCommit(false);
            statement.executeUpdate("insert into note (id) values (1)");

            database.close();

            assertThatExceptionOfType(SQLException.class)
                    .isThrownBy(() -> statement.executeUpdate("insert into note (id) values (2)"));
        }
    }

    @Test
    void saysWhatItRunsOn() throws IOException {
        TestDatabase.Schema database = TestDatabase.create();
        database.close();

        assertThat(Files.readAllLines(Path.of("target", "test-database.txt")))
                .doesNotHaveDuplicates()
                .anyMatch(line ->
                        line.matches("Semaphore tests run on " + database.kind().product() + " \\d.*\\(.*\\)"));
    }

    @Test
    void isOfTheVersionThatIsNamed() throws IOException {
        String[] named = System.getProperty(TestDatabase.PROPERTY, "auto").split(":");
        assumeTrue(named.length == 2, "no version is named");

        String product = TestDatabase.kind().product();

        assertThat(named[0]).isEqualToIgnoringCase(product);
        assertThat(Files.readAllLines(Path.of("target", "test-database.txt")))
                .anyMatch(line -> line.startsWith("Semaphore tests run on %s %s".formatted(product, named[1])));
    }

    @Test
    void isHandedOverToAChildJvm() {
        try (TestDatabase.Schema database = TestDatabase.createForProcesses()) {
            database.jdbc().execute("create table note (id int primary key)");
            try (ChildJvm child = ChildJvm.start(InsertingMain.class, database.handOver())) {
                child.awaitLine("inserted", TIMEOUT);

                assertThat(count(database.jdbc())).isEqualTo(1);
                assertThat(child.awaitExit(TIMEOUT)).isZero();
            }
            assertThat(count(database.jdbc())).isEqualTo(1);
        }
    }

    private static int count(JdbcTemplate jdbc) {
        return jdbc.queryForObject("select count(*) from note", Integer.class);
    }

    static final class InsertingMain {

        public static void main(String[] arguments) {
            try (TestDatabase.Schema database = TestDatabase.handedOver()) {
                database.jdbc().update("insert into note (id) values (1)");
                System.out.println("inserted");
            }
        }
    }
}
