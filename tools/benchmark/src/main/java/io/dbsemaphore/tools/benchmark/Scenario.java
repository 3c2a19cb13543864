package io.dbsemaphore.tools.benchmark;

import static io.dbsemaphore.tools.benchmark.approach.Approach.DB_SEMAPHORE;

import io.dbsemaphore.tools.benchmark.approach.Approach;
import io.dbsemaphore.tools.benchmark.approach.Demands;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Threads that acquire and release as fast as they can: by number of threads, or by the number of rows in the tables. */
enum Scenario {
    /** Lets the JIT compiler see all approaches; it is not reported. */
    WARM_UP("warm-up", "8 threads, 4 semaphores", 1, 8, 4, 1),

    ONE_THREAD("1-thread", "1 thread, 1 semaphore", 1, 1, 1, 1),
    THREADS_4("4-threads", "4 threads, 1 semaphore", 1, 4, 1, 1),
    THREADS_32("32-threads", "32 threads, 1 semaphore", 1, 32, 1, 1),
    THREADS_128("128-threads", "128 threads, 1 semaphore", 1, 128, 1, 1),
    SEMAPHORES_64("64-semaphores", "32 threads, 64 semaphores", 1, 32, 64, 1),
    SEMAPHORES_1000("1000-semaphores", "32 threads, 1,000 semaphores", 1, 32, 1_000, 1),
    TWO_NAMES_1("two-names-1", "1 thread, 2 names at once", 1, 1, 2, 2),
    TWO_NAMES_32("two-names-32", "32 threads, 2 names at once", 1, 32, 2, 2),
    TWO_JVMS("two-jvms", "2 JVMs x 32 threads, 1 semaphore", 2, 32, 1, 1),
    REUSE_1("reuse-1", "reuse, 1 thread", 1, 1, 1, 1),
    REUSE_32("reuse-32", "reuse, 32 threads, 1 semaphore", 1, 32, 1, 1),
    REUSE_64("reuse-64", "reuse, 32 threads, 64 semaphores of 64", 1, 32, 64, 1),
    REUSE_1000("reuse-1000", "reuse, 32 threads, 1,000 semaphores of 64", 1, 32, 1_000, 1),
    REUSE_1000_IN_STEP(
            "reuse-1000-in-step", "reuse, 32 threads, 1,000 semaphores of 64 in the same order", 1, 32, 1_000, 1),
    BIASED_LOCK("biased-lock", "reuse, 1 thread, 1 permit, locked again and again", 1, 1, 1, 1),
    REUSE_16("reuse-16", "reuse, 16 threads, 30 permits", 1, 16, 1, 1),
    REUSE_3_JVMS_SKEWED(
            "reuse-3-jvms-skewed",
            "reuse, 3 JVMs x 16 threads, 30 permits; one idle, one active for a tenth of the time, one always",
            3,
            16,
            1,
            1),
    REUSE_2_JVMS("reuse-2-jvms", "reuse, 2 JVMs x 16 threads, 8 permits, holds of 2 ms", 2, 16, 1, 1),
    FAIR_1_JVM("fair-1-jvm", "32 threads, 4 permits, all wait", 1, 32, 1, 1),
    FAIR_2_JVMS("fair-2-jvms", "2 JVMs x 16 threads, 4 permits, all wait", 2, 16, 1, 1),
    HAND_OVER_2_JVMS("hand-over-2-jvms", "2 JVMs x 1 thread, 1 permit, handed over each time", 2, 1, 1, 1),

    /** Not compared: see {@link WaitingInstances}. */
    WAITING_16_JVMS("16-jvms-waiting", "16 instances, 1 permit, all wait", 1, 1, 1, 1),

    /** Permits of the same semaphore are held. */
    HELD("held", "1 thread, %,d permits held", List.of(10, 1_000, 10_000)),
    /** Requests of the same semaphore were released before. */
    HISTORY("history", "1 thread, %,d released requests", List.of(0, 100_000, 1_000_000)),
    /** Requests of the same semaphore were released, and an older snapshot keeps the server from purging them. */
    SNAPSHOT("snapshot", "1 thread, %,d releases under an old snapshot", List.of(0, 100_000));

    /** The others are slower than these, and do not wait in line for a permit. */
    private static final Set<Approach> COMPARED_WITH_REUSE =
            Set.of(DB_SEMAPHORE, Approach.BARE_UPDATE, Approach.REDISSON);

    private static final Set<Approach> COMPARED_IN_LINE =
            Set.of(DB_SEMAPHORE, Approach.UNFAIR, Approach.NOTIFIED, Approach.BY_SHARES, Approach.BY_MANY_SHARES);

    private final String id;
    private final String title;
    private final int jvms;
    private final int threads;
    private final int semaphores;
    private final int namesAtOnce;
    private final List<Integer> rows;

    Scenario(String id, String title, List<Integer> rows) {
        this(id, title, 1, 1, 1, 1, rows.toArray(Integer[]::new));
    }

    Scenario(String id, String title, int jvms, int threads, int semaphores, int namesAtOnce, Integer... rows) {
        this.id = id;
        this.title = title;
        this.jvms = jvms;
        this.threads = threads;
        this.semaphores = semaphores;
        this.namesAtOnce = namesAtOnce;
        this.rows = List.of(rows);
    }

    /** Those that are reported. */
    static List<Scenario> measured() {
        return Arrays.stream(values()).filter(scenario -> scenario != WARM_UP).toList();
    }

    /**
     * What is measured in turn: each approach that can do it, the library of the earlier build, too; or, where rows are
     * varied, the library only, with each number of rows.
     *
     * @param earlierBuild whether there is one
     * @param rowsDivisor by how much to divide the numbers of rows, which stay at least 1 unless they are 0
     * @param delay how far away the server is
     */
    List<Case> cases(List<Approach> approaches, boolean earlierBuild, int rowsDivisor, Duration delay) {
        Stream<Case> current = variesRows()
                ? rows.stream()
                        .map(count -> new Case(
                                this, DB_SEMAPHORE, false, Math.max(Math.min(count, 1), count / rowsDivisor), delay))
                : approaches.stream().filter(this::compares).map(approach -> new Case(this, approach, false, 0, delay));
        return current.flatMap(one -> earlierBuild && one.approach() == DB_SEMAPHORE && !isInLine()
                        ? Stream.of(one, one.with(DB_SEMAPHORE, true))
                        : Stream.of(one))
                .toList();
    }

    private boolean compares(Approach approach) {
        if (this == WAITING_16_JVMS) {
            return false;
        }
        if (reuses()) {
            return COMPARED_WITH_REUSE.contains(approach);
        }
        return isInLine()
                ? COMPARED_IN_LINE.contains(approach)
                : approach != Approach.UNFAIR
                        && approach != Approach.NOTIFIED
                        && (approach != Approach.BY_SHARES || this == THREADS_32)
                        && approach != Approach.BY_MANY_SHARES
                        && (namesAtOnce == 1 || approach.acquiresSeveralNames());
    }

    /** Whether the library reuses permits. */
    boolean reuses() {
        return switch (this) {
            case REUSE_1,
                    REUSE_32,
                    REUSE_64,
                    REUSE_1000,
                    REUSE_1000_IN_STEP,
                    BIASED_LOCK,
                    REUSE_16,
                    REUSE_3_JVMS_SKEWED,
                    REUSE_2_JVMS -> true;
            default -> false;
        };
    }

    /** Whether all threads wait for permits that are released at once. */
    private boolean isInLine() {
        return this == FAIR_1_JVM || this == FAIR_2_JVMS || this == HAND_OVER_2_JVMS;
    }

    /** What the approaches have to do. */
    Demands demands() {
        return new Demands(reuses(), reuses() || isInLine());
    }

    /** The number of permits for so many threads, with which no acquire waits unless the scenario is about that. */
    int capacity(int allThreads) {
        return switch (this) {
            case REUSE_1, REUSE_32, REUSE_64, REUSE_1000, REUSE_1000_IN_STEP -> 2 * allThreads;
            case REUSE_16, REUSE_3_JVMS_SKEWED -> 30;
            case REUSE_2_JVMS -> 8;
            case FAIR_1_JVM, FAIR_2_JVMS -> 4;
            case BIASED_LOCK, HAND_OVER_2_JVMS -> 1;
            default -> allThreads;
        };
    }

    /** Whether all threads acquire the semaphores in the same order, beginning with the first one. */
    boolean isInStep() {
        return this == REUSE_1000_IN_STEP;
    }

    /** How long a round is by default. */
    Duration length() {
        return Duration.ofSeconds(this == REUSE_1000_IN_STEP ? 15 : 5);
    }

    /** How long a permit is held. */
    Duration hold() {
        return this == REUSE_2_JVMS ? Duration.ofMillis(2) : Duration.ZERO;
    }

    /** The part of the time for which the threads of a JVM are active; with 0 each of them acquires once. */
    double activity(int jvm) {
        return this == REUSE_3_JVMS_SKEWED ? List.of(1.0, 0.1, 0.0).get(jvm) : 1;
    }

    /** Its name on the command line and in CSV. */
    String id() {
        return id;
    }

    /** Its name in tables; contains a format specifier where rows are varied. */
    String title() {
        return title;
    }

    int jvms() {
        return jvms;
    }

    /** The threads of each JVM. */
    int threads() {
        return threads;
    }

    int semaphores() {
        return semaphores;
    }

    int namesAtOnce() {
        return namesAtOnce;
    }

    boolean variesRows() {
        return !rows.isEmpty();
    }
}
