package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

class DatabaseUrlTests {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            jdbc:mysql://localhost:3306/app                         | jdbc:mysql://localhost:3306/app
            jdbc:mysql://localhost/app?useSSL=false&user=u          | jdbc:mysql://localhost/app
            jdbc:mysql:replication://a:1,b:2/app                    | jdbc:mysql:replication://a:1,b:2/app
            jdbc:mariadb://db.example.com                           | jdbc:mariadb://db.example.com
            jdbc:postgresql://[::1]:5432/app?ssl=true               | jdbc:postgresql://[::1]:5432/app
            jdbc:h2:mem:app;DB_CLOSE_DELAY=-1                       | jdbc:h2:mem:app
            jdbc:h2:file:/var/lib/app;USER=u                        | jdbc:h2:file:/var/lib/app
            jdbc:h2:tcp://localhost/~/app                           | jdbc:h2:tcp://localhost/~/app
            """)
    void showsServerAndDatabase(String url, String shown) {
        assertThat(DatabaseUrl.withoutSecrets(url)).isEqualTo(shown);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:mysql://user:secret@localhost/app",
                "jdbc:mysql://user:s@secret@localhost/app",
                "jdbc:mysql://user:s/secret@localhost/app",
                "jdbc:mysql://user:s?secret@localhost/app",
                "jdbc:mysql://user:secret;s@localhost/app",
                "jdbc:mysql://user:secret@a,user:secret@b/app",
                "jdbc:mysql://address=(host=localhost)(user=u)(password=secret)/app",
                "jdbc:mysql://localhost/app?password=secret",
                "jdbc:mysql://localhost/app?password=s@secret",
                "jdbc:postgresql://localhost/app?user=u&password=secret",
                "jdbc:h2:mem:app;PASSWORD=secret",
                "jdbc:h2:tcp://user:secret@localhost/app",
                "jdbc:other:user/secret@localhost:1521:app"
            })
    void showsNoPassword(String url) {
        assertThat(DatabaseUrl.withoutSecrets(url)).startsWith("jdbc:").doesNotContain("secret");
    }

    @Test
    void isThatOfThePoolOrOfTheDriversDataSource() {
        JdbcDataSource driver = new JdbcDataSource();
        driver.setUrl("jdbc:h2:mem:driver");
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setJdbcUrl("jdbc:h2:mem:pool");

            assertThat(DatabaseUrl.of(new DelegatingDataSource(pool))).contains("jdbc:h2:mem:pool");
        }
        assertThat(DatabaseUrl.of(driver)).contains("jdbc:h2:mem:driver");
        assertThat(DatabaseUrl.of(new DriverManagerDataSource("jdbc:h2:mem:plain")))
                .contains("jdbc:h2:mem:plain");
    }

    @Test
    void isUnknownWhereTheDataSourceDoesNotTell() {
        assertThat(DatabaseUrl.of(new AbstractDataSource() {
                    @Override
                    public Connection getConnection() {
                        throw new UnsupportedOperationException();
                    }

                    @Override
                    public Connection getConnection(String username, String password) {
                        throw new UnsupportedOperationException();
                    }
                }))
                .isEmpty();
    }
}
