package io.dbsemaphore.persistence.unit;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.hibernate.boot.model.naming.Identifier;
import org.hibernate.boot.model.naming.PhysicalNamingStrategyStandardImpl;
import org.hibernate.engine.jdbc.env.spi.JdbcEnvironment;
import org.jspecify.annotations.Nullable;

/** Adds the configured prefix to the table names, as the changelog does, and to the names in the SQL script. */
public final class TablePrefix extends PhysicalNamingStrategyStandardImpl {

    private static final long serialVersionUID = 1L;

    /** Tables, and what begins with the kind of a constraint or an index. */
    private static final Pattern NAME = Pattern.compile("\\b(semaphore|permit_request|permit|semaphore_instance"
            + "|semaphore_waiter|capacity_change|(?:pk|uq|fk|ix|ck)_\\w+)\\b");

    private final String prefix;

    public TablePrefix(String prefix) {
        this.prefix = prefix;
    }

    /** The script of the tables, with the prefix before the names of tables, constraints and indexes. */
    public static String addTo(String script, String prefix) {
        return prefix.isEmpty() ? script : NAME.matcher(script).replaceAll(Matcher.quoteReplacement(prefix) + "$1");
    }

    @Override
    public @Nullable Identifier toPhysicalTableName(@Nullable Identifier logicalName, JdbcEnvironment context) {
        return logicalName == null || prefix.isEmpty()
                ? logicalName
                : Identifier.toIdentifier(prefix + logicalName.getText(), logicalName.isQuoted());
    }
}
