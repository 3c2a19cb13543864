package io.dbsemaphore.samples.benchmark.throughput;

import io.dbsemaphore.samples.benchmark.contestant.Approach;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.LongStream;

/** Threads that acquire and release as fast as they can. */
public enum Workload {
    /** Measures nothing: it lets the JVM compile what the others run. */
    WARM_UP(1000, "warm-up", "8 threads, 4 semaphores", 1, 8, 4, 1),

    ONE_THREAD(2000, "1-thread", "1 thread, 1 semaphore", 1, 1, 1, 1),
    THREADS_32(3000, "32-threads", "32 threads, 1 semaphore", 1, 32, 1, 1),
    THREADS_128(4000, "128-threads", "128 threads, 1 semaphore", 1, 128, 1, 1),
    SEMAPHORES_64(5000, "64-semaphores", "32 threads, 64 semaphores", 1, 32, 64, 1),
    TWO_NAMES_1(6000, "two-names-1", "1 thread, 2 names at once", 1, 1, 2, 2),
    TWO_NAMES_32(7000, "two-names-32", "32 threads, 2 names at once", 1, 32, 2, 2),
    TWO_JVMS(8000, "two-jvms", "2 JVMs x 32 threads, 1 semaphore", 2, 32, 1, 1);

    private final int firstSemaphore;
    private final String id;
    private final String title;
    private final int jvms;
    private final int threads;
    private final int semaphores;
    private final int namesAtOnce;

    Workload(int firstSemaphore, String id, String title, int jvms, int threads, int semaphores, int namesAtOnce) {
        this.firstSemaphore = firstSemaphore;
        this.id = id;
        this.title = title;
        this.jvms = jvms;
        this.threads = threads;
        this.semaphores = semaphores;
        this.namesAtOnce = namesAtOnce;
    }

    /** Those that are of interest. */
    public static List<Workload> measured() {
        return Arrays.stream(values()).filter(workload -> workload != WARM_UP).toList();
    }

    /** Its name on the command line. */
    public String id() {
        return id;
    }

    /** Its name in tables. */
    public String title() {
        return title;
    }

    /** In how many JVMs it runs. */
    public int jvms() {
        return jvms;
    }

    /** In each JVM. */
    public int threads() {
        return threads;
    }

    /** Enough for all threads: what is measured is not the wait for a permit. */
    public int capacity() {
        return jvms * threads;
    }

    /** The numbers of its semaphores; no other workload has them. */
    public List<Long> semaphores() {
        return LongStream.range(firstSemaphore, firstSemaphore + semaphores)
                .boxed()
                .toList();
    }

    /** What one acquire asks for. */
    public List<Long> pick(List<Long> all) {
        return namesAtOnce == all.size()
                ? all
                : List.of(all.get(ThreadLocalRandom.current().nextInt(all.size())));
    }

    /** Whether this approach can do it. */
    public boolean suits(Approach approach) {
        return namesAtOnce == 1 || approach.takesSeveral();
    }
}
