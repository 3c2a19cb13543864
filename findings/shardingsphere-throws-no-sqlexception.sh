#!/bin/bash
# ShardingSphere-JDBC fails a statement that the database executes, with an exception that is no SQLException.
#
# Version:   ShardingSphere-JDBC 5.5.2, H2 2.2.224, as it brings it.
# Behaviour: One H2 database in memory without any sharding rule, used directly and through ShardingSphere's DataSource. Its parser
#            knows neither "set lock_timeout 1000" nor a column with the name "exclusive". It throws DialectSQLParsingException, a
#            RuntimeException, out of Statement.execute and Connection.prepareStatement.
# Seen:      set lock_timeout 1000, directly: executed; through ShardingSphere: DialectSQLParsingException, SQLException: false
#            insert into t(exclusive) values (?), directly: executed; through ShardingSphere: DialectSQLParsingException, SQLException: false
# A good engineer would guess that a DataSource of one database without rules passes what it does not know on to the database, and
# that whatever a JDBC method throws for a statement is an SQLException, as its signature says: a handler of SQLException that closes,
# rolls back or translates does not run.
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
<dependency><groupId>org.apache.shardingsphere</groupId><artifactId>shardingsphere-jdbc</artifactId><version>5.5.2</version></dependency>
</dependencies></project>
POM
mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.10.0:build-classpath -Dmdep.outputFile=classpath >&2

cat >Finding.java <<'JAVA'
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.apache.shardingsphere.driver.api.yaml.YamlShardingSphereDataSourceFactory;

public class Finding {

    static final String URL = "jdbc:h2:mem:finding;DB_CLOSE_DELAY=-1";

    public static void main(String[] args) throws Exception {
        try (Connection direct = DriverManager.getConnection(URL, "sa", "")) {
            direct.createStatement().execute("create table t (exclusive boolean)");
            DataSource through = YamlShardingSphereDataSourceFactory.createDataSource("""
                    dataSources:
                      one:
                        dataSourceClassName: com.zaxxer.hikari.HikariDataSource
                        jdbcUrl: %s
                        username: sa
                        password: ""
                    rules:
                    - !SINGLE
                      tables: ["*.*"]
                    """.formatted(URL).getBytes(StandardCharsets.UTF_8));
            try (Connection connection = through.getConnection()) {
                show("set lock_timeout 1000", direct, connection, Finding::execute);
                show("insert into t(exclusive) values (?)", direct, connection, Finding::insert);
            }
        }
        System.exit(0); // its threads are no daemons
    }

    interface Use {
        void of(Connection connection, String sql) throws SQLException;
    }

    static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    static void insert(Connection connection, String sql) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setBoolean(1, true);
            statement.executeUpdate();
        }
    }

    static void show(String sql, Connection direct, Connection through, Use use) throws SQLException {
        use.of(direct, sql);
        String seen = "executed";
        try {
            use.of(through, sql);
        } catch (Exception failure) {
            seen = failure.getClass().getSimpleName() + ", SQLException: " + (failure instanceof SQLException);
        }
        System.out.println(sql + ", directly: executed; through ShardingSphere: " + seen);
        if (!seen.equals("DialectSQLParsingException, SQLException: false")) {
            throw new AssertionError("The behaviour has changed");
        }
    }
}
JAVA
java -cp "$(cat classpath)" Finding.java 2>/dev/null
