package io.dbsemaphore.tools.faults.client;

import io.dbsemaphore.tools.faults.oracle.Event;
import java.io.Serializable;
import java.time.Duration;
import java.util.List;

/**
 * What a client process is told when it starts, on its standard input, so that no password is on a command line.
 *
 * @param client the name, with the number of the restart after a dot
 * @param url the database, through the network that is under attack
 * @param oracle the port of the oracle
 * @param seed of what the client does
 * @param threads how many acquire at a time
 * @param sets of semaphores to acquire from
 * @param instanceTimeout the setting of the library
 * @param unfinished acquires with external ids that the predecessor was killed with
 */
public record ClientSettings(
        String client,
        String url,
        String user,
        String password,
        int oracle,
        long seed,
        int threads,
        int sets,
        Duration instanceTimeout,
        List<Event> unfinished)
        implements Serializable {

    /** The name without the number of the restart. */
    String lineage() {
        return client.replaceFirst("\\.\\d+$", "");
    }
}
