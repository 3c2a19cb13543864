package io.dbsemaphore.samples.faults.client;

import io.dbsemaphore.samples.faults.oracle.Event;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What a client process is told when it starts, in environment variables, so that no password is on a command line.
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
        List<Event> unfinished) {

    private static final String PREFIX = "FAULTS_";

    /** As environment variables. */
    public Map<String, String> toEnvironment() {
        Map<String, String> environment = new HashMap<>();
        environment.put(PREFIX + "CLIENT", client);
        environment.put(PREFIX + "URL", url);
        environment.put(PREFIX + "USER", user);
        environment.put(PREFIX + "PASSWORD", password);
        environment.put(PREFIX + "ORACLE", String.valueOf(oracle));
        environment.put(PREFIX + "SEED", String.valueOf(seed));
        environment.put(PREFIX + "THREADS", String.valueOf(threads));
        environment.put(PREFIX + "SETS", String.valueOf(sets));
        environment.put(PREFIX + "INSTANCE_TIMEOUT", instanceTimeout.toString());
        environment.put(
                PREFIX + "UNFINISHED", unfinished.stream().map(Event::encode).collect(Collectors.joining("\n")));
        return environment;
    }

    static ClientSettings of(Map<String, String> environment) {
        String unfinished = environment.getOrDefault(PREFIX + "UNFINISHED", "");
        return new ClientSettings(
                value(environment, "CLIENT"),
                value(environment, "URL"),
                value(environment, "USER"),
                value(environment, "PASSWORD"),
                Integer.parseInt(value(environment, "ORACLE")),
                Long.parseLong(value(environment, "SEED")),
                Integer.parseInt(value(environment, "THREADS")),
                Integer.parseInt(value(environment, "SETS")),
                Duration.parse(value(environment, "INSTANCE_TIMEOUT")),
                unfinished.lines().map(line -> Event.decode(line, 0)).toList());
    }

    /** The name without the number of the restart. */
    String lineage() {
        return client.replaceFirst("\\.\\d+$", "");
    }

    private static String value(Map<String, String> environment, String name) {
        String value = environment.get(PREFIX + name);
        if (value == null) {
            throw new IllegalArgumentException("No environment variable " + PREFIX + name);
        }
        return value;
    }
}
