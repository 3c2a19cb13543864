package io.dbsemaphore.samples.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The semaphores that the clients use, with their capacities. */
public final class Workload {

    /** What the names of all tables begin with. */
    public static final String TABLE_PREFIX = "faults_";

    /** For callers of several permits, and exclusive ones. */
    public static final String WIDE = "wide";
    /** Two that are acquired together. */
    public static final List<String> TOGETHER = List.of("together-a", "together-b");
    /** With {@code reuse}. */
    public static final String REUSED = "reused";

    /** The reuse time of {@link #REUSED}. */
    public static final Duration REUSE = Duration.ofMillis(250);
    /** The TTL of grants that are kept alive. */
    public static final Duration KEPT_ALIVE = Duration.ofSeconds(15);
    /** The longest TTL of grants that are not kept alive. */
    public static final Duration LONGEST_TTL = Duration.ofSeconds(4);

    /** How many semaphores there are of each simple kind. */
    public static final int OF_EACH = 6;

    /** How many rows are written to under {@code requireHeld}. */
    public static final int LEDGERS = 4;

    private Workload() {}

    /** A semaphore for one caller at a time. */
    public static String narrow(int number) {
        return "narrow-" + number;
    }

    /** A semaphore for two callers. */
    public static String pair(int number) {
        return "pair-" + number;
    }

    /** The semaphore that guards a row which is written to under {@code requireHeld}. */
    public static String ledger(int number) {
        return "ledger-" + number;
    }

    /** The semaphore of one client, which that client always holds. */
    public static String own(String client) {
        return "own-" + client;
    }

    /** The capacity of each semaphore. */
    public static Map<String, Integer> capacities(List<String> clients) {
        Map<String, Integer> capacities = new TreeMap<>(Map.of(WIDE, 10, REUSED, 4));
        for (int number = 0; number < OF_EACH; number++) {
            capacities.put(narrow(number), 1);
            capacities.put(pair(number), 2);
        }
        TOGETHER.forEach(name -> capacities.put(name, 3));
        ledgers().forEach(name -> capacities.put(name, 1));
        clients.forEach(client -> capacities.put(own(client), 1));
        return capacities;
    }

    /** The semaphores that guard a row each. */
    public static List<String> ledgers() {
        List<String> names = new ArrayList<>();
        for (int number = 0; number < LEDGERS; number++) {
            names.add(ledger(number));
        }
        return names;
    }
}
