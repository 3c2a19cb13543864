package io.dbsemaphore.persistence;

import io.dbsemaphore.testing.DatabaseKind;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A statement of the changelog in a form that can be run again. Each database has a condition for tables. MySQL has none
 * for indexes, columns and constraints, and PostgreSQL none for constraints: these statements query the catalog first. A script
 * runner may split at semicolons outside of quotes, so that a procedural block is a literal.
 */
final class RepeatableStatement {

    private static final Pattern INDEX = Pattern.compile("CREATE INDEX (\\w+) ON (\\w+)\\(.*");
    private static final Pattern CHECK =
            Pattern.compile("alter table (\\w+) add constraint (\\w+) (check .*)", Pattern.CASE_INSENSITIVE);
    private static final Pattern COLUMN = Pattern.compile("ALTER TABLE (\\w+) ADD (\\w+) (.*)");

    private RepeatableStatement() {}

    static String of(String statement, DatabaseKind kind) {
        if (statement.startsWith("CREATE TABLE ")) {
            return statement.replaceFirst("CREATE TABLE", "CREATE TABLE IF NOT EXISTS");
        }
        Matcher index = INDEX.matcher(statement);
        if (index.matches()) {
            return kind == DatabaseKind.MYSQL
                    ? unlessFound(statement, "statistics", index.group(2), "index_name", index.group(1))
                    : statement.replaceFirst("CREATE INDEX", "CREATE INDEX IF NOT EXISTS");
        }
        Matcher check = CHECK.matcher(statement);
        if (check.matches()) {
            return ofCheck(statement, check.group(1), check.group(2), check.group(3), kind);
        }
        Matcher column = COLUMN.matcher(statement);
        if (column.matches()) {
            return kind == DatabaseKind.MYSQL
                    ? unlessFound(statement, "columns", column.group(1), "column_name", column.group(2))
                    : "ALTER TABLE %s ADD COLUMN IF NOT EXISTS %s %s"
                            .formatted(column.group(1), column.group(2), column.group(3));
        }
        throw new IllegalArgumentException("No repeatable form is known for: " + statement);
    }

    private static String ofCheck(String statement, String table, String name, String check, DatabaseKind kind) {
        return switch (kind) {
            case MYSQL -> unlessFound(statement, "table_constraints", table, "constraint_name", name);
            case POSTGRESQL -> """
                    DO 'BEGIN
                        IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = ''%s''::regclass AND conname = lower(''%s'')) THEN
                            %s;
                        END IF;
                    END'""".formatted(table, name, quoted(statement));
            case MARIADB, H2 -> "alter table %s add constraint if not exists %s %s".formatted(table, name, check);
        };
    }

    private static String unlessFound(String statement, String view, String table, String column, String name) {
        return """
                SET @statement = (SELECT IF(COUNT(*) > 0, 'DO 0', '%s')
                    FROM information_schema.%s WHERE table_schema = DATABASE() AND table_name = '%s' AND %s = '%s');
                PREPARE statement FROM @statement;
                EXECUTE statement;
                DEALLOCATE PREPARE statement""".formatted(quoted(statement), view, table, column, name);
    }

    private static String quoted(String statement) {
        return statement.replace("'", "''");
    }
}
