package io.dbsemaphore.persistence;

import io.dbsemaphore.engine.SemaphoreTablesMissingException;
import io.dbsemaphore.testing.DatabaseKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import liquibase.Liquibase;
import liquibase.change.Change;
import liquibase.changelog.ChangeSet;
import liquibase.database.Database;
import liquibase.database.DatabaseFactory;
import liquibase.database.DatabaseList;
import liquibase.exception.LiquibaseException;
import liquibase.resource.ClassLoaderResourceAccessor;
import liquibase.resource.ResourceAccessor;
import liquibase.sql.Sql;
import liquibase.sql.visitor.SqlVisitor;
import liquibase.sqlgenerator.SqlGeneratorFactory;

/** The changelog as plain SQL of one database, as Liquibase would run it, without the tables of Liquibase. */
final class ChangelogScript {

    private static final String HEADER = """
            -- The tables of DB Semaphore on %s, for applications without Liquibase: copy this file to the application's
            -- own migrations, such as Flyway's db/migration/V42__semaphores.sql. Generated from %s.
            -- Each statement can be run again; existing objects are left unchanged (spring.sql.init.mode=always).
            -- With semaphore.jdbc.table-prefix, put the prefix before the names of tables, constraints and indexes, also where
            -- they are in quotes.
            """;

    private ChangelogScript() {}

    /** Where the script of a database is on the class path. */
    static String location(DatabaseKind kind) {
        return "db/dbsemaphore/sql/%s.sql".formatted(name(kind));
    }

    static String of(DatabaseKind kind) throws Exception {
        ResourceAccessor classPath = new ClassLoaderResourceAccessor();
        Database offline = DatabaseFactory.getInstance()
                .openDatabase(
                        "offline:%s?outputLiquibaseSql=none&changeLogFile=target/offline-%1$s.csv"
                                .formatted(name(kind)),
                        null,
                        null,
                        null,
                        classPath);
        offline.setOutputDefaultSchema(false);
        List<ChangeSet> changeSets = new Liquibase(SemaphoreTablesMissingException.CHANGELOG, classPath, offline)
                .getDatabaseChangeLog()
                .getChangeSets();
        List<String> statements = new ArrayList<>();
        for (ChangeSet changeSet : changeSets) {
            for (Change change : changeSet.getChanges()) {
                statements.addAll(statements(changeSet, change, offline));
            }
        }
        return HEADER.formatted(product(kind), SemaphoreTablesMissingException.CHANGELOG)
                + statements.stream().map(statement -> "\n" + statement + ";\n").collect(Collectors.joining());
    }

    private static List<String> statements(ChangeSet changeSet, Change change, Database database)
            throws LiquibaseException {
        List<String> statements = new ArrayList<>();
        for (Sql sql : SqlGeneratorFactory.getInstance().generateSql(change.generateStatements(database), database)) {
            String statement = sql.toSql();
            for (SqlVisitor visitor : changeSet.getSqlVisitors()) {
                if (DatabaseList.definitionMatches(visitor.getApplicableDbms(), database, true)) {
                    statement = visitor.modifySql(statement, database);
                }
            }
            statements.add(RepeatableStatement.of(
                    inLines(statement.strip()),
                    DatabaseKind.valueOf(database.getShortName().toUpperCase(Locale.ROOT))));
        }
        return statements;
    }

    /** Puts each column and constraint of a table on a line of its own. */
    private static String inLines(String statement) {
        if (!statement.startsWith("CREATE TABLE")) {
            return statement;
        }
        StringBuilder lines = new StringBuilder();
        int depth = 0;
        for (int i = 0; i < statement.length(); i++) {
            char c = statement.charAt(i);
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (c == ')' && depth == 0) {
                lines.append('\n');
            }
            lines.append(c);
            if ((c == '(' || c == ',') && depth == 1) {
                lines.append("\n    ");
                i += c == ',' ? 1 : 0;
            }
        }
        return lines.toString();
    }

    private static String name(DatabaseKind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    private static String product(DatabaseKind kind) {
        return switch (kind) {
            case MYSQL -> "MySQL";
            case MARIADB -> "MariaDB";
            case POSTGRESQL -> "PostgreSQL";
            case H2 -> "H2";
        };
    }
}
