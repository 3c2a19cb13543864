package io.dbsemaphore.engine.quota;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * The main class of processes that reuse permits. It does what it reads:
 *
 * <ul>
 *   <li>{@code hold NAME} acquires until it has a reused permit, and says {@code HOLDING}
 *   <li>{@code release} releases that, and says {@code RELEASED} and the outcome
 *   <li>{@code try NAME} acquires without a wait time and says {@code GRANTED} or {@code REFUSED}
 *   <li>{@code work NAME THREADS SECONDS FILE SLOT} says {@code WORKED}, how often, and how often with a reused permit
 *   <li>{@code fill NAME COUNT} acquires so many permits, releases them all, and says {@code FILLED}
 *   <li>{@code demand NAME THREADS ON OFF HOLD WAIT SECONDS FILE SLOT} acquires on so many threads for ON of every ON + OFF milliseconds,
 *       one slot after the other, and holds each permit for HOLD milliseconds; with a wait time, or again and again without one. It says
 *       {@code DEMANDED}, how often, and how many milliseconds it took at most until a caller had its permit
 *   <li>{@code hammer NAME THREADS FILE SLOT} acquires and releases as fast as possible until the process ends: on a few threads, and at
 *       times, together with all other processes, on all of them
 * </ul>
 */
final class ReusingProcess {

    static final Duration INSTANCE_TIMEOUT = Duration.ofSeconds(6);

    private final SemaphoreTemplate semaphores;
    private PermitGrant held;

    private ReusingProcess(SemaphoreTemplate semaphores) {
        this.semaphores = semaphores;
    }

    static SemaphoreSettings settings(Duration reuse) {
        return TestSettings.defaults()
                .with(SemaphoreSettings.REUSE, PerSemaphore.all(Duration.ZERO).with("*", reuse))
                .with(SemaphoreSettings.INSTANCE_TIMEOUT, INSTANCE_TIMEOUT);
    }

    /** Argument: the reuse time in milliseconds. */
    public static void main(String[] arguments) throws IOException {
        Schema schema = TestDatabase.handedOver();
        Duration reuse = Duration.ofMillis(Long.parseLong(arguments[0]));
        try (schema;
                HikariDataSource pool = schema.newPool(8);
                SemaphoreEngine engine =
                        new SemaphoreEngine(pool, settings(reuse)); // no listeners, which would cost time
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            ReusingProcess process = new ReusingProcess(new SemaphoreTemplate(engine.permitManager()));
            System.out.println("READY");
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                System.out.println(process.obey(line.split(" ")));
            }
        }
    }

    private String obey(String[] words) {
        return switch (words[0]) {
            case "hold" -> hold(words[1]);
            case "release" -> "RELEASED " + held.release();
            case "try" -> semaphores.tryAcquire(request(words[1])).isPresent() ? "GRANTED" : "REFUSED";
            case "work" ->
                work(
                        words[1],
                        Integer.parseInt(words[2]),
                        Integer.parseInt(words[3]),
                        new SharedCounter(Path.of(words[4]), Integer.parseInt(words[5])));
            case "fill" -> fill(words[1], Integer.parseInt(words[2]));
            case "demand" ->
                demand(
                        request(words[1])
                                .withWaitTime(Boolean.parseBoolean(words[6]) ? Duration.ofSeconds(30) : Duration.ZERO),
                        Integer.parseInt(words[2]),
                        new Phases(Long.parseLong(words[3]), Long.parseLong(words[4]), Integer.parseInt(words[9])),
                        Duration.ofMillis(Long.parseLong(words[5])),
                        Duration.ofSeconds(Long.parseLong(words[7])),
                        new SharedCounter(Path.of(words[8]), Integer.parseInt(words[9])));
            case "hammer" ->
                hammer(
                        words[1],
                        Integer.parseInt(words[2]),
                        new SharedCounter(Path.of(words[3]), Integer.parseInt(words[4])),
                        Integer.parseInt(words[4]));
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    private String hold(String name) {
        held = semaphores.acquire(request(name));
        while (!held.isReused()) {
            held.release();
            held = semaphores.acquire(request(name));
        }
        return "HOLDING";
    }

    /** Random holds, random counts, with and without a wait time. */
    private String work(String name, int threads, int seconds, SharedCounter atWork) {
        LongAdder uses = new LongAdder();
        LongAdder reuses = new LongAdder();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        Concurrently.run(threads, Duration.ofSeconds(seconds + 40L), thread -> {
            ThreadLocalRandom random = ThreadLocalRandom.current();
            while (System.nanoTime() < end) {
                int count = random.nextInt(8) == 0 ? 2 : 1;
                AcquireRequest request = request(name)
                        .withPermits(name, count)
                        .withWaitTime(random.nextBoolean() ? Duration.ZERO : Duration.ofSeconds(5));
                Optional<PermitGrant> granted =
                        semaphores.tryAcquire(random.nextInt(64) == 0 ? request.withKeepAlive(false) : request);
                if (granted.isPresent()) {
                    atWork.enter(count);
                    LockSupport.parkNanos(random.nextInt(4) == 0 ? 0 : random.nextInt(3_000_000));
                    atWork.leave(count);
                    uses.increment();
                    reuses.add(granted.get().isReused() ? 1 : 0);
                    granted.get().release();
                }
            }
        });
        return "WORKED " + uses + " " + reuses;
    }

    private String fill(String name, int count) {
        AcquireRequest request = request(name).withWaitTime(Duration.ofSeconds(30));
        Stream.generate(() -> semaphores.acquire(request)).limit(count).toList().forEach(PermitGrant::release);
        return "FILLED";
    }

    private String demand(
            AcquireRequest request, int threads, Phases phases, Duration hold, Duration length, SharedCounter atWork) {
        LongAdder uses = new LongAdder();
        LongAccumulator longest = new LongAccumulator(Math::max, 0);
        long end = System.nanoTime() + length.toNanos();
        Concurrently.run(threads, length.plusSeconds(40), thread -> {
            while (System.nanoTime() < end) {
                LockSupport.parkNanos(phases.nanosToBegin());
                long begun = System.nanoTime();
                Optional<PermitGrant> granted = semaphores.tryAcquire(request);
                while (granted.isEmpty() && System.nanoTime() < end) {
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
                    granted = semaphores.tryAcquire(request);
                }
                longest.accumulate(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun));
                granted.ifPresent(grant -> {
                    atWork.enter(1);
                    LockSupport.parkNanos(hold.toNanos());
                    atWork.leave(1);
                    uses.increment();
                    grant.release();
                });
            }
        });
        return "DEMANDED " + uses + " " + longest;
    }

    /** When the callers of a process are active, by the clock that all processes have. */
    private record Phases(long onMillis, long offMillis, int slot) {

        long nanosToBegin() {
            long at = Math.floorMod(System.currentTimeMillis() - slot * onMillis, onMillis + offMillis);
            return at < onMillis ? 0 : TimeUnit.MILLISECONDS.toNanos(onMillis + offMillis - at);
        }
    }

    private String hammer(String name, int threads, SharedCounter atWork, int slot) {
        for (int number = 0; number < threads; number++) {
            Thread thread = new Thread(new HammeringThread(semaphores, request(name), atWork, slot, number));
            thread.setDaemon(true);
            thread.start();
        }
        return "HAMMERING";
    }

    /** The times of the hammering, by the clock that all processes have. */
    static final class Crowd {

        private static final long PERIOD = 3_000;
        private static final long LENGTH = 1_000;

        /** Otherwise the number of active threads in one process after the other, and in all others. */
        private static final int MANY = 6;

        private static final int FEW = 2;

        private Crowd() {}

        /** Whether all threads of all processes want permits now. */
        static boolean isNow() {
            return System.currentTimeMillis() % PERIOD < LENGTH;
        }

        /** Whether a thread wants permits now. */
        static boolean includes(int slot, int thread) {
            boolean many = System.currentTimeMillis() / PERIOD % 3 == slot;
            return isNow() || thread < (many ? MANY : FEW);
        }

        /** Until the next time that all threads want permits. */
        static long millisUntilBegin() {
            return PERIOD - System.currentTimeMillis() % PERIOD;
        }
    }

    /** One thread that acquires and releases until the process ends. */
    private record HammeringThread(
            SemaphoreTemplate semaphores, AcquireRequest request, SharedCounter atWork, int slot, int number)
            implements Runnable {

        private static final int USES_FOR_EACH_COUNTED_ONE = 64;
        private static final int MAX_HOLD_NANOS = 1_000_000;
        private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

        @Override
        @SuppressWarnings("InfiniteLoopStatement") // until the process ends
        public void run() {
            while (true) {
                if (!Crowd.includes(slot, number)) {
                    LockSupport.parkNanos(IDLE_NANOS);
                } else if (Crowd.isNow()) {
                    useAndCount(ThreadLocalRandom.current().nextInt(MAX_HOLD_NANOS));
                } else {
                    use(USES_FOR_EACH_COUNTED_ONE - 1);
                    useAndCount(MAX_HOLD_NANOS / 10);
                }
            }
        }

        /** Uses without a hold, until one is refused. */
        private void use(int most) {
            int uses = 0;
            for (boolean any = true; any && uses < most; ) {
                Optional<PermitGrant> granted = acquire();
                granted.ifPresent(PermitGrant::release);
                any = granted.isPresent();
                uses += any ? 1 : 0;
            }
            atWork.addUses(uses);
        }

        /** Not counted if the process was cleared meanwhile: the use may have begun before. */
        private void useAndCount(long holdNanos) {
            int epoch = atWork.epoch();
            acquire().ifPresent(grant -> {
                atWork.enter(1, epoch);
                LockSupport.parkNanos(holdNanos);
                atWork.leave(1, epoch);
                grant.release();
                atWork.addUses(1);
            });
        }

        private Optional<PermitGrant> acquire() {
            Optional<PermitGrant> granted = Optional.empty();
            try {
                granted = semaphores.tryAcquire(request);
            } catch (RuntimeException failure) { // the process was frozen, or another one locks the row
                System.out.println("FAILED " + failure);
            }
            if (granted.isEmpty()) {
                atWork.refuse();
            }
            return granted;
        }
    }

    private static AcquireRequest request(String name) {
        return AcquireRequest.of(name).withKeepAlive(true);
    }
}
