package io.dbsemaphore.tools.benchmark.approach;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.sql.DataSource;

/** This library with its defaults, with reuse, without the order across JVMs, with notifications, or with shares. */
public final class DbSemaphoreLimiter implements Limiter {

    /** How long a permit is kept for reuse, in scenarios with reuse. */
    public static final Duration REUSE = Duration.ofMillis(250);

    private static final Duration LONG = Duration.ofMinutes(1);

    private static final int MAX_WEIGHT = 1_000;

    private final SemaphoreEngine engine;
    private final SemaphoreOperations semaphores;
    private final Demands demands;
    private final int shares;

    DbSemaphoreLimiter(DataSource dataSource, String tablePrefix, Demands demands, Approach approach) {
        this(dataSource, demands, settings(tablePrefix, demands.reuse(), approach), approach.shares());
    }

    DbSemaphoreLimiter(DataSource dataSource, Demands demands, SemaphoreSettings settings) {
        this(dataSource, demands, settings, 0);
    }

    private DbSemaphoreLimiter(DataSource dataSource, Demands demands, SemaphoreSettings settings, int shares) {
        this.demands = demands;
        this.shares = shares;
        engine = new SemaphoreEngine(dataSource, settings);
        semaphores = new SemaphoreTemplate(engine.permitManager());
    }

    @Override
    public void prepare(long semaphore, int capacity) {
        engine.admin().create(name(semaphore), capacity);
    }

    @Override
    public Held acquire(List<Long> numbers) {
        String[] names = new String[numbers.size()];
        for (int i = 0; i < names.length; i++) {
            names[i] = name(numbers.get(i));
        }
        AcquireRequest request = AcquireRequest.of(names);
        request = demands.reuse() ? request.withKeepAlive(true) : request;
        request =
                shares > 0 ? request.withShare(share(ThreadLocalRandom.current().nextInt(shares))) : request;
        return semaphores.acquire(demands.waiting() ? request.withWaitTime(LONG) : request)::release;
    }

    /** Acquires a permit that stays held until it is released, even if this JVM ends. */
    public PermitGrant acquireWithoutTtl(long semaphore) {
        return semaphores.acquire(AcquireRequest.of(name(semaphore)).withoutTtl());
    }

    /** How many callers of all instances wait. */
    public long waiting(long semaphore) {
        return engine.admin().find(name(semaphore)).orElseThrow().waiting();
    }

    @Override
    public void close() {
        engine.close();
    }

    private static SemaphoreSettings settings(String tablePrefix, boolean reuse, Approach approach) {
        SemaphoreSettings settings = SemaphoreSettings.defaults().with(SemaphoreSettings.TABLE_PREFIX, tablePrefix);
        if (reuse) {
            settings = settings.with(
                    SemaphoreSettings.REUSE, PerSemaphore.all(Duration.ZERO).with("bench-*", REUSE));
        }
        return switch (approach) {
            case UNFAIR -> settings.with(SemaphoreSettings.FAIR, PerSemaphore.all(false));
            case NOTIFIED -> settings.with(SemaphoreSettings.NOTIFICATIONS, true);
            case BY_MANY_SHARES ->
                settings.with(SemaphoreSettings.WEIGHTS, PerSemaphore.all(weights(approach.shares())));
            default -> settings;
        };
    }

    private static Map<String, Integer> weights(int shares) {
        return IntStream.range(0, shares)
                .boxed()
                .collect(Collectors.toMap(DbSemaphoreLimiter::share, i -> 1 + i % MAX_WEIGHT));
    }

    private static String share(int number) {
        return "tenant-" + number;
    }

    private static String name(long semaphore) {
        return "bench-" + semaphore;
    }
}
