package io.dbsemaphore.tools.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The semaphores that the clients use, with their capacities. */
public final class Workload {

    /** What the names of all tables begin with. */
    public static final String TABLE_PREFIX = "faults_";

    /** The reuse time of {@link #reused}. */
    public static final Duration REUSE = Duration.ofMillis(250);
    /** The TTL of grants that are kept alive. */
    public static final Duration KEPT_ALIVE = Duration.ofSeconds(15);
    /** The longest TTL of grants that are not kept alive. */
    public static final Duration LONGEST_TTL = Duration.ofSeconds(4);

    /** How many semaphores of each simple kind there are in a set. */
    public static final int OF_EACH = 6;

    /** How many rows are written to under {@code requireHeld}. */
    public static final int LEDGERS = 4;

    /** The semaphore of callers with shares. */
    public static final String SHARED = "shared";
    /** The share of which many callers wait. */
    public static final String CROWDED = "t1/k1";
    /** How many callers of {@link #CROWDED} there are in each client. */
    public static final int CROWD = 12;

    private Workload() {}

    /** A semaphore for one caller at a time. */
    public static String narrow(int number) {
        return "narrow-" + number;
    }

    /** A semaphore for two callers. */
    public static String pair(int number) {
        return "pair-" + number;
    }

    /** The semaphore of a set for callers of several permits, and exclusive ones. */
    public static String wide(int set) {
        return "wide-" + set;
    }

    /** Two semaphores of a set that are acquired together. */
    public static List<String> together(int set) {
        return List.of("together-a-" + set, "together-b-" + set);
    }

    /** The semaphore of a set with {@code reuse}. */
    public static String reused(int set) {
        return "reused-" + set;
    }

    /** All semaphores with {@code reuse}. */
    public static Set<String> allReused(int sets) {
        return IntStream.range(0, sets).mapToObj(Workload::reused).collect(Collectors.toUnmodifiableSet());
    }

    /** The semaphore that guards a row which is written to under {@code requireHeld}. */
    public static String ledger(int number) {
        return "ledger-" + number;
    }

    /** The shares of {@link #SHARED}: three tenants of two keys each, all of the weight 1. */
    public static List<String> shares() {
        return List.of(CROWDED, "t1/k2", "t2/k1", "t2/k2", "t3/k1", "t3/k2");
    }

    /** The semaphore of one client, which that client always holds. */
    public static String own(String client) {
        return "own-" + client;
    }

    /** The capacity of each semaphore of so many sets, and of those that there are once. */
    public static Map<String, Integer> capacities(List<String> clients, int sets) {
        Map<String, Integer> capacities = new TreeMap<>();
        for (int set = 0; set < sets; set++) {
            capacities.put(wide(set), 10);
            capacities.put(reused(set), 4);
            together(set).forEach(name -> capacities.put(name, 3));
        }
        for (int number = 0; number < OF_EACH * sets; number++) {
            capacities.put(narrow(number), 1);
            capacities.put(pair(number), 2);
        }
        ledgers().forEach(name -> capacities.put(name, 1));
        capacities.put(SHARED, 2);
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
