package io.dbsemaphore.tools.benchmark;

import io.dbsemaphore.tools.benchmark.approach.Target;
import io.dbsemaphore.tools.benchmark.delay.DelayProxyJvm;
import io.dbsemaphore.tools.benchmark.delay.ServerUrl;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** How far away the servers are: a delay, with the proxies that make it. Without a delay there are no proxies. */
final class Distance implements AutoCloseable {

    private static final int QUERIES = 200;
    private static final Duration TOLERANCE = Duration.ofNanos(500_000);

    private final Duration delay;
    private final Target direct;
    private final Deque<DelayProxyJvm> proxies = new ArrayDeque<>();
    private final Target target;

    Distance(Duration delay, Target direct) throws IOException {
        this.delay = delay;
        this.direct = direct;
        if (delay.isZero()) {
            target = direct;
            return;
        }
        try {
            target = direct.at(through(direct.url()), redis(direct.redis()));
        } catch (IOException | RuntimeException failure) {
            close();
            throw failure;
        }
    }

    private @Nullable String redis(@Nullable String url) throws IOException {
        return url == null ? null : through(url);
    }

    private String through(String url) throws IOException {
        ServerUrl server = new ServerUrl(url);
        DelayProxyJvm proxy = new DelayProxyJvm(MeasuringJvm.classPath(""), server.address(), delay);
        proxies.push(proxy);
        return server.through(proxy.port());
    }

    /** The servers, from this distance. */
    Target target() {
        return target;
    }

    /** The round trips up to now. */
    long trips() throws IOException {
        long trips = 0;
        for (DelayProxyJvm proxy : proxies) {
            trips += proxy.trips();
        }
        return trips;
    }

    /**
     * Measures the delay.
     *
     * @return the times of a query with and without it, in words
     * @throws IOException if it is wrong by more than a half of it and half a millisecond
     */
    String check() throws IOException, SQLException {
        long[] near = new long[QUERIES];
        long[] far = new long[QUERIES];
        try (Connection nearConnection = connect(direct);
                Connection farConnection = connect(target)) {
            for (int query = -QUERIES; query < QUERIES; query++) { // first for the JIT compiler
                near[Math.max(0, query)] = queryNanos(nearConnection);
                far[Math.max(0, query)] = queryNanos(farConnection);
            }
        }
        return check(median(near), median(far));
    }

    private String check(Duration near, Duration far) throws IOException {
        String times = "select 1 takes %s through the proxy of %s, and %s directly"
                .formatted(millis(far), millis(delay), millis(near));
        Duration error = far.minus(near).minus(delay).abs();
        if (error.compareTo(delay.dividedBy(2).plus(TOLERANCE)) > 0) {
            throw new IOException(times + ": other work on this machine delays the proxy; end it, or repeat the run");
        }
        return times;
    }

    private static Connection connect(Target target) throws SQLException {
        return DriverManager.getConnection(target.url(), target.user(), target.password());
    }

    private static long queryNanos(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            long begin = System.nanoTime();
            statement.executeQuery("select 1").close();
            return System.nanoTime() - begin;
        }
    }

    private static Duration median(long[] nanos) {
        return Duration.ofNanos(LongStream.of(nanos).sorted().toArray()[nanos.length / 2]);
    }

    private static String millis(Duration duration) {
        return String.format(Locale.ROOT, "%.2f ms", duration.toNanos() / 1e6);
    }

    @Override
    public void close() throws IOException {
        while (!proxies.isEmpty()) {
            proxies.pop().close();
        }
    }
}
