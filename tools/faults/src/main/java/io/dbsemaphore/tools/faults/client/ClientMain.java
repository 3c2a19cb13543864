package io.dbsemaphore.tools.faults.client;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.tools.faults.Workload;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The main class of a client process. Its standard input has its settings; it stops when that ends. */
public final class ClientMain {

    private static final int POOL = 8;
    private static final int ATTEMPTS = 60;
    private static final Duration POOL_TIMEOUT = Duration.ofSeconds(2);

    /** An earlier build of the library does not have this setting, and ignores its property. */
    private static final String ONE_TRIP_FROM = "semaphore.jdbc.one-trip-from";

    private final ClientSettings settings;
    private final HikariDataSource pool;
    private final SemaphoreEngine engine;
    private final SemaphoreTemplate semaphores;
    private final Random random;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final List<Thread> threads = new ArrayList<>();

    private ClientMain(ClientSettings settings, HikariDataSource pool) {
        this.settings = settings;
        this.pool = pool;
        engine = new SemaphoreEngine(
                pool,
                SemaphoreSettings.defaults()
                        .with(SemaphoreSettings.OWNER, settings.client())
                        .with(SemaphoreSettings.TABLE_PREFIX, Workload.TABLE_PREFIX)
                        .with(SemaphoreSettings.INSTANCE_TIMEOUT, settings.instanceTimeout())
                        .with(SemaphoreSettings.REUSE, reuse(settings.sets()))
                        .withProperties((property, type) ->
                                property.equals(ONE_TRIP_FROM) ? oneTripFrom(settings.client()) : null));
        semaphores = new SemaphoreTemplate(engine.permitManager());
        random = new Random(settings.seed());
    }

    /** One of the clients always takes two round trips: both ways of granting meet on the same rows. */
    private static Duration oneTripFrom(String client) {
        return client.startsWith("c1.") ? Duration.ofHours(1) : Duration.ZERO;
    }

    private static PerSemaphore<Duration> reuse(int sets) {
        PerSemaphore<Duration> reuse = PerSemaphore.all(Duration.ZERO);
        for (String name : Workload.allReused(sets)) {
            reuse = reuse.with(name, Workload.REUSE);
        }
        return reuse;
    }

    /** Runs until standard input ends. */
    public static void main(String[] arguments) throws Exception {
        ClientMain client = open((ClientSettings) new ObjectInputStream(System.in).readObject());
        client.start();
        while (System.in.read() >= 0) {
            // nothing else is ever sent
        }
        client.stop();
        System.exit(0);
    }

    /** The server may be away at first. */
    private static ClientMain open(ClientSettings settings) {
        for (int attempt = 1; true; attempt++) {
            HikariDataSource pool = pool(settings);
            try {
                return new ClientMain(settings, pool);
            } catch (RuntimeException serverAway) {
                pool.close();
                System.err.println("Attempt " + attempt + " to start: " + serverAway);
                if (attempt == ATTEMPTS) {
                    throw serverAway;
                }
            }
        }
    }

    private void start() throws IOException {
        engine.start();
        Map<String, Integer> capacities = Workload.capacities(List.of(), settings.sets());
        run("own", caller -> new OwnPermit(caller, Workload.own(settings.lineage()), stopped));
        run("adopt", caller -> new Adoption(caller, settings.unfinished()));
        run("connections", caller -> new ConnectionProbe(caller, pool, stopped));
        run("usage", caller -> new UsageReports(caller, pool, stopped));
        run("pool", caller -> new PoolExhaustion(caller, pool, POOL, random(), stopped));
        TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(pool));
        for (int number = 1; number <= 2; number++) {
            run(
                    "l" + number,
                    caller -> new LedgerWriter(
                            caller, semaphores, transaction, new JdbcTemplate(pool), random(), stopped));
        }
        for (int number = 1; number <= settings.threads(); number++) {
            run(
                    "w" + number,
                    caller -> new Worker(caller, capacities, new RandomRequests(random(), settings.sets()), stopped));
        }
        share();
    }

    /** All keys have a caller in each client; a crowd of one of them would delay the others if they were served by arrival. */
    private void share() throws IOException {
        for (String share : Workload.shares()) {
            int callers = share.equals(Workload.CROWDED) ? Workload.CROWD : 1;
            for (int number = 1; number <= callers; number++) {
                run("s-" + share + "-" + number, caller -> new SharingCaller(caller, share, random(), stopped));
            }
        }
    }

    private void run(String name, Function<Caller, Runnable> task) throws IOException {
        Caller caller = new Caller(semaphores, settings, name);
        Runnable runnable = task.apply(caller);
        Thread thread = new Thread(runnable, name);
        threads.add(thread);
        thread.start();
    }

    private void stop() throws InterruptedException {
        stopped.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        engine.close();
        pool.close();
    }

    private Random random() {
        return new Random(random.nextLong());
    }

    private static HikariDataSource pool(ClientSettings settings) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(settings.url());
        config.setUsername(settings.user());
        config.setPassword(settings.password());
        config.setMaximumPoolSize(POOL);
        config.setConnectionTimeout(POOL_TIMEOUT.toMillis());
        config.setInitializationFailTimeout(-1);
        return new HikariDataSource(config);
    }
}
