package io.dbsemaphore.persistence.unit;

import org.hibernate.boot.model.naming.Identifier;
import org.hibernate.boot.model.naming.PhysicalNamingStrategyStandardImpl;
import org.hibernate.engine.jdbc.env.spi.JdbcEnvironment;
import org.jspecify.annotations.Nullable;

/** Adds the configured prefix to the table names, as the changelog does. */
public final class TablePrefix extends PhysicalNamingStrategyStandardImpl {

    private static final long serialVersionUID = 1L;

    private final String prefix;

    public TablePrefix(String prefix) {
        this.prefix = prefix;
    }

    @Override
    public @Nullable Identifier toPhysicalTableName(@Nullable Identifier logicalName, JdbcEnvironment context) {
        return logicalName == null || prefix.isEmpty()
                ? logicalName
                : Identifier.toIdentifier(prefix + logicalName.getText(), logicalName.isQuoted());
    }
}
