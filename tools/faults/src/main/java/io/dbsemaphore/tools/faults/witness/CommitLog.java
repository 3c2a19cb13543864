package io.dbsemaphore.tools.faults.witness;

import io.dbsemaphore.tools.faults.attack.DatabaseServer;
import io.dbsemaphore.tools.faults.oracle.Findings;
import java.io.IOException;
import java.sql.SQLException;
import java.util.Map;

/** The log of a server in which each commit stands, in the order of the commits. */
public interface CommitLog {

    /**
     * Remembers where the log ends now. The tables must exist, and be empty.
     *
     * @param prefix of the tables of the library
     * @throws SQLException if the server has no such log, or the user may not read it
     */
    static CommitLog from(DatabaseServer server, String prefix) throws SQLException {
        return server.isPostgreSql() ? WriteAheadLog.from(server, prefix) : BinaryLog.from(server, prefix);
    }

    /**
     * Replays what was written since then.
     *
     * @param capacities by name, as they were promised
     * @return the number of commits that changed what is held
     */
    long replay(Map<String, Integer> capacities, Findings findings) throws IOException, SQLException;
}
