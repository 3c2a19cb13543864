#!/bin/bash
# ShedLock's late unlock opens the lock of the next holder if both have one host name.
#
# Version:   ShedLock 7.10.1, JdbcTemplateLockProvider with usingDbTime, H2 2.4.240.
# Behaviour: A holder outlives lockAtMostFor, another one takes the lock, then the first one unlocks. With two values of
#            locked_by its unlock changes nothing. With one value (the default is the host's name, so two processes of
#            one host have the same) it ends the second one's lock, and a third gets it while the second is at work.
# Seen:      two values of locked_by, the third gets the lock: false
#            one value of locked_by, the third gets the lock: true
# A good engineer would guess that an unlock belongs to the lock that it was given for, whoever holds the name by then: each
# lock() returns an object of its own, and the row has the time of that lock.
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
<dependency><groupId>net.javacrumbs.shedlock</groupId><artifactId>shedlock-provider-jdbc-template</artifactId><version>7.10.1</version></dependency>
<dependency><groupId>com.h2database</groupId><artifactId>h2</artifactId><version>2.4.240</version></dependency>
<dependency><groupId>org.springframework</groupId><artifactId>spring-jdbc</artifactId><version>7.0.8</version></dependency>
</dependencies></project>
POM
mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.10.0:build-classpath -Dmdep.outputFile=classpath >&2

cat >Finding.java <<'JAVA'
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.h2.jdbcx.JdbcDataSource;
import org.springframework.jdbc.core.JdbcTemplate;

public class Finding {
    static JdbcTemplate jdbc;

    public static void main(String[] args) throws Exception {
        JdbcDataSource dataSource = new JdbcDataSource();
        dataSource.setUrl("jdbc:h2:mem:t;DB_CLOSE_DELAY=-1");
        jdbc = new JdbcTemplate(dataSource);
        jdbc.execute("create table shedlock (name varchar(64) primary key, lock_until timestamp(3), locked_at timestamp(3), locked_by varchar(255))");
        check("two values of locked_by, the third gets the lock", false, thirdGetsIt("two", "host-1", "host-2"));
        check("one value of locked_by, the third gets the lock", true, thirdGetsIt("one", "host-1", "host-1"));
    }

    static boolean thirdGetsIt(String name, String firstHost, String secondHost) throws Exception {
        SimpleLock first = lock(name, firstHost, Duration.ofMillis(200)).orElseThrow();
        Optional<SimpleLock> second = Optional.empty();
        while (second.isEmpty()) { // until the first one's time is over
            Thread.sleep(50);
            second = lock(name, secondHost, Duration.ofMinutes(5));
        }
        first.unlock();
        return lock(name, "host-3", Duration.ofMinutes(5)).isPresent();
    }

    static Optional<SimpleLock> lock(String name, String host, Duration atMost) {
        return new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
                        .withJdbcTemplate(jdbc).withLockedByValue(host).usingDbTime().build())
                .lock(new LockConfiguration(Instant.now(), name, atMost, Duration.ZERO));
    }

    static void check(String what, Object expected, Object seen) {
        System.out.println(what + ": " + seen);
        if (!expected.equals(seen)) throw new AssertionError("The behaviour has changed. " + what + ": expected " + expected);
    }
}
JAVA
timeout 90 java -cp "$(cat classpath)" Finding.java "$work" || exit 1
