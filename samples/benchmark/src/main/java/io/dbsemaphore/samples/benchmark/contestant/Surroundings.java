package io.dbsemaphore.samples.benchmark.contestant;

import io.dbsemaphore.samples.benchmark.database.Tables;
import io.dbsemaphore.samples.benchmark.database.Target;
import java.io.Serializable;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import liquibase.exception.LiquibaseException;
import org.jspecify.annotations.Nullable;

/**
 * What contestants run on.
 *
 * @param redis where a Redis is, if there is one
 */
public record Surroundings(Target target, @Nullable String redis) implements Serializable {

    /** The approaches that can be measured here. */
    public Set<Approach> approaches() {
        Set<Approach> possible = EnumSet.allOf(Approach.class);
        if (redis == null) {
            possible.remove(Approach.REDISSON);
        }
        return possible;
    }

    /** Makes the tables of all of them. */
    public void makeTables(Tables tables) throws SQLException, LiquibaseException {
        List<String> statements = new ArrayList<>(TextbookTables.DDL);
        statements.addAll(BareUpdateContestant.DDL);
        statements.addAll(LockRegistryContestant.DDL);
        statements.addAll(ShedLockContestant.DDL);
        tables.execute(statements);
        tables.makeLibraryTables(Tables.PREFIX);
    }
}
