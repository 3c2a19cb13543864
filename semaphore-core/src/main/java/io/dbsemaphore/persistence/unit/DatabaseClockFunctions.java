package io.dbsemaphore.persistence.unit;

import io.dbsemaphore.jdbc.Database;
import java.time.LocalDateTime;
import org.hibernate.boot.model.FunctionContributions;
import org.hibernate.boot.model.FunctionContributor;
import org.hibernate.query.sqm.function.SqmFunctionRegistry;
import org.hibernate.type.BasicType;
import org.hibernate.type.BasicTypeRegistry;
import org.hibernate.type.StandardBasicTypes;
import org.hibernate.type.descriptor.java.LocalDateTimeJavaType;
import org.hibernate.type.descriptor.jdbc.LocalDateTimeJdbcType;

/**
 * Functions for the database's clock in UTC. HQL's own {@code instant} and {@code local datetime} are in the time zone of
 * the session. Registered programmatically on the library's persistence unit, since a service would also be found by the
 * host's Hibernate.
 */
public final class DatabaseClockFunctions implements FunctionContributor {

    private final Database database;

    public DatabaseClockFunctions(Database database) {
        this.database = database;
    }

    @Override
    public void contributeFunctions(FunctionContributions contributions) {
        SqmFunctionRegistry functions = contributions.getFunctionRegistry();
        BasicTypeRegistry types = contributions.getTypeConfiguration().getBasicTypeRegistry();
        // LocalDateTime is read directly, as in the entities; the standard type converts by java.sql.Timestamp, which
        // shifts values in hours that the JVM's zone skips, or if the zone has changed since the connection was opened
        BasicType<LocalDateTime> utc = types.resolve(LocalDateTimeJavaType.INSTANCE, LocalDateTimeJdbcType.INSTANCE);
        functions.registerPattern("utc_now", database.utcNow(), utc);
        functions.registerPattern("utc_plus_millis", database.utcPlusMillis(), utc);
        functions.registerPattern("epoch_micros", database.epochMicros(), types.resolve(StandardBasicTypes.LONG));
    }
}
