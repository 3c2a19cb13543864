package io.dbsemaphore.persistence.unit;

import org.hibernate.dialect.MySQLDialect;
import org.hibernate.dialect.RowLockStrategy;
import org.hibernate.engine.jdbc.dialect.spi.DialectResolutionInfo;

/**
 * MySQL with locks that name no table: {@code for update} instead of {@code for update of}. All locks of the library are on
 * one table, where both mean the same, and SQL filters know the shorter form.
 */
public final class MySqlRowLockDialect extends MySQLDialect {

    /** Made by Hibernate. */
    public MySqlRowLockDialect(DialectResolutionInfo info) {
        super(info);
    }

    @Override
    @SuppressWarnings("deprecation") // Hibernate still asks it
    public RowLockStrategy getWriteRowLockStrategy() {
        return RowLockStrategy.NONE;
    }
}
