#!/bin/bash
# HSQLDB and Derby accept SELECT ... FOR UPDATE and keep no lock when it has been read.
#
# Version:   HSQLDB 2.7.4 (transaction control MVCC), Derby 10.16.1.1, both READ COMMITTED; H2 2.4.240 for comparison.
# Behaviour: Two transactions read a row FOR UPDATE, add one, write and commit. The second one does not wait at its read, and
#            an update is lost.
# Seen:      H2, second FOR UPDATE: waits; value after two increments: 2
#            HSQLDB, second FOR UPDATE: does not wait; value after two increments: 1
#            Derby, second FOR UPDATE: does not wait; value after two increments: 1
# A good engineer would guess that a database that has FOR UPDATE locks the row until the commit, or refuses the clause:
# JPA's PESSIMISTIC_WRITE relies on it. In these two it only makes the cursor updatable (Derby locks the current row of an
# open cursor).
#
# Needs: Java 17 or later, Maven. Fails if the behaviour has changed.
set -euo pipefail
for tool in mvn java; do command -v "$tool" >/dev/null || { echo "$tool is needed" >&2; exit 1; }; done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies>
<dependency><groupId>org.hsqldb</groupId><artifactId>hsqldb</artifactId><version>2.7.4</version></dependency>
<dependency><groupId>org.apache.derby</groupId><artifactId>derby</artifactId><version>10.16.1.1</version></dependency>
<dependency><groupId>org.apache.derby</groupId><artifactId>derbyshared</artifactId><version>10.16.1.1</version></dependency>
<dependency><groupId>com.h2database</groupId><artifactId>h2</artifactId><version>2.4.240</version></dependency>
</dependencies></project>
POM
mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.10.0:build-classpath -Dmdep.outputFile=classpath >&2

cat >Finding.java <<'JAVA'
import java.sql.*;
import java.util.concurrent.*;

public class Finding {
    public static void main(String[] args) throws Exception {
        System.setProperty("derby.stream.error.file", args[0] + "/derby.log");
        check("H2, second FOR UPDATE", "waits; value after two increments: 2", twoIncrements("jdbc:h2:mem:t;LOCK_TIMEOUT=20000", null));
        check("HSQLDB, second FOR UPDATE", "does not wait; value after two increments: 1",
                twoIncrements("jdbc:hsqldb:mem:t", "set database transaction control mvcc"));
        check("Derby, second FOR UPDATE", "does not wait; value after two increments: 1",
                twoIncrements("jdbc:derby:memory:t;create=true", null));
    }

    static String twoIncrements(String url, String setting) throws Exception {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (Connection first = open(url); Connection second = open(url)) {
            first.setAutoCommit(true);
            try (Statement statement = first.createStatement()) {
                if (setting != null) statement.execute(setting);
                statement.execute("create table t (id int primary key, n int)");
                statement.execute("insert into t values (1, 0)");
            }
            first.setAutoCommit(false);
            int read = read(first);
            Future<Integer> readBySecond = thread.submit(() -> read(second));
            boolean waits = false;
            try {
                readBySecond.get(2, TimeUnit.SECONDS);
            } catch (TimeoutException e) {
                waits = true;
            }
            write(first, read + 1);
            write(second, readBySecond.get(30, TimeUnit.SECONDS) + 1);
            int end = read(first);
            first.commit();
            return (waits ? "waits" : "does not wait") + "; value after two increments: " + end;
        } finally {
            thread.shutdownNow();
        }
    }

    static Connection open(String url) throws SQLException {
        Connection connection = DriverManager.getConnection(url);
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        connection.setAutoCommit(false);
        return connection;
    }

    static int read(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select n from t where id = 1 for update")) {
            rows.next();
            return rows.getInt(1);
        }
    }

    static void write(Connection connection, int value) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate("update t set n = " + value + " where id = 1");
        }
        connection.commit();
    }

    static void check(String what, Object expected, Object seen) {
        System.out.println(what + ": " + seen);
        if (!expected.equals(seen)) throw new AssertionError("The behaviour has changed. " + what + ": expected " + expected);
    }
}
JAVA
timeout 90 java -cp "$(cat classpath)" Finding.java "$work" || exit 1
