package io.dbsemaphore.testing;

import io.dbsemaphore.testing.measurement.Measurement;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * A data source that stops a thread right before or after a statement, or makes that statement fail, so that an
 * interleaving which is rare by chance happens in every run. It also remembers what was executed, and how many
 * connections were out at once.
 *
 * <p>A statement is named by a part of its SQL, in any case and without the schemas of tables; {@code commit} and {@code rollback} stand for the calls of
 * that name. Whatever is told to the gate happens to the first execution that fits, once; all others pass.
 */
public final class StatementGate extends DelegatingDataSource implements AutoCloseable {

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(60);

    private static final Pattern QUALIFIER = Pattern.compile("([`\"])[^`\"]+\\1\\.");

    private final List<Rule> rules = new CopyOnWriteArrayList<>();
    private final List<Executed> executed = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger borrowed = new AtomicInteger();
    private final PeakCounter connections = new PeakCounter();
    private volatile @Nullable Pause lastPause;

    public StatementGate(DataSource target) {
        super(target);
    }

    /**
     * What was executed.
     *
     * @param connection which time that a connection was taken from the pool, from 1
     */
    public record Executed(int connection, String sql) {}

    /** Stops the next thread that is about to execute this. */
    public Pause pauseBefore(String part) {
        return pause(new Rule(part, "", false, new Pause(part), null));
    }

    /** Stops the next thread that has executed this, before it goes on. */
    public Pause pauseAfter(String part) {
        return pause(new Rule(part, "", true, new Pause(part), null));
    }

    /** Stops the next thread that is about to commit a transaction which has executed this. */
    public Pause pauseBeforeCommitOf(String part) {
        return pause(new Rule("commit", part, false, new Pause("commit of " + part), null));
    }

    /** Stops the next thread that is about to roll back a transaction which has executed this. */
    public Pause pauseBeforeRollbackOf(String part) {
        return pause(new Rule("rollback", part, false, new Pause("rollback of " + part), null));
    }

    /** Stops the next thread that has committed a transaction which has executed this, before it goes on. */
    public Pause pauseAfterCommitOf(String part) {
        return pause(new Rule("commit", part, true, new Pause("end of the commit of " + part), null));
    }

    /** Makes the next execution of this fail without reaching the database. */
    public void failBefore(String part, SQLException failure) {
        rules.add(new Rule(part, "", false, null, failure));
    }

    /** Makes the next execution of this fail although the database has done it. */
    public void failAfter(String part, SQLException failure) {
        rules.add(new Rule(part, "", true, null, failure));
    }

    /** Makes the next commit of a transaction that has executed this fail although the database has done it. */
    public void failAfterCommitOf(String part, SQLException failure) {
        rules.add(new Rule("commit", part, true, null, failure));
    }

    /** Waits until a thread has been stopped by the pause that was made last. */
    public void awaitReached(Duration timeout) {
        lastPause().awaitReached(timeout);
    }

    /** Ends the pause that was made last, whether a thread has reached it or not. */
    public void open() {
        lastPause().open();
    }

    /** What was executed, in the order in which it was sent. */
    public List<String> statements() {
        return executions().stream().map(Executed::sql).toList();
    }

    /** What was executed and on which connections, in the order in which it was sent. */
    public List<Executed> executions() {
        synchronized (executed) {
            return List.copyOf(executed);
        }
    }

    /** How many of the executed statements have this part. */
    public long count(String part) {
        return statements().stream().filter(sql -> contains(sql, part)).count();
    }

    /** Forgets what was executed. */
    public void clear() {
        executed.clear();
    }

    /** The connections that are out. */
    public PeakCounter connections() {
        return connections;
    }

    /** Ends every pause and forgets what was to fail. The data source behind it stays open. */
    @Override
    public void close() {
        List<Rule> left = List.copyOf(rules);
        rules.clear();
        left.stream().map(Rule::pause).filter(pause -> pause != null).forEach(Pause::open);
        Pause last = lastPause;
        if (last != null) {
            last.open();
        }
    }

    @Override
    public Connection getConnection() throws SQLException {
        return gated(obtainTargetDataSource().getConnection());
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        return gated(obtainTargetDataSource().getConnection(username, password));
    }

    private Connection gated(Connection connection) {
        connections.enter();
        return new GatedConnection(this, borrowed.incrementAndGet(), connection).proxy();
    }

    void returned() {
        connections.leave();
    }

    <T extends @Nullable Object> T execute(int connection, List<String> transaction, String sql, Callable<T> execution)
            throws Exception {
        apply(false, transaction, sql);
        executed.add(new Executed(connection, unqualified(sql)));
        T result = execution.call();
        apply(true, transaction, sql);
        return result;
    }

    /** Whether something is to happen to a statement. */
    boolean isArmed() {
        return !rules.isEmpty();
    }

    /** These are sent in one piece. */
    void executing(int connection, List<String> together) {
        together.forEach(sql -> executed.add(new Executed(connection, unqualified(sql))));
    }

    private void apply(boolean after, List<String> transaction, String sql) throws SQLException {
        for (Rule rule : rules) {
            if (rule.fits(after, transaction, sql) && take(rule)) {
                if (rule.failure() != null) {
                    throw rule.failure();
                }
                if (rule.pause() != null) {
                    rule.pause().hold();
                }
                return;
            }
        }
    }

    /** Each rule is for one execution: the first that takes it. */
    private boolean take(Rule rule) {
        return rules.remove(rule);
    }

    private Pause pause(Rule rule) {
        Pause pause = rule.pause();
        lastPause = pause;
        rules.add(rule);
        return pause;
    }

    private Pause lastPause() {
        Pause pause = lastPause;
        if (pause == null) {
            throw new IllegalStateException("There is no pause");
        }
        return pause;
    }

    /** A statement without the schemas before the names of its tables. */
    public static String unqualified(String sql) {
        return QUALIFIER.matcher(sql).replaceAll("");
    }

    private static boolean contains(String sql, String part) {
        return (!part.equals("commit") || !sql.contains("autocommit")) // which is a setting of the session
                && unqualified(sql).toLowerCase(Locale.ROOT).contains(part.toLowerCase(Locale.ROOT));
    }

    private record Rule(
            String part,
            String having,
            boolean after,
            @Nullable Pause pause,
            @Nullable SQLException failure) {

        boolean fits(boolean isAfter, List<String> transaction, String sql) {
            return after == isAfter
                    && contains(sql, part)
                    && (having.isEmpty() || transaction.stream().anyMatch(earlier -> contains(earlier, having)));
        }

        // By identity: two rules that say the same are two.
        @Override
        public boolean equals(@Nullable Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(this);
        }
    }

    /** A place where one thread is stopped. */
    public static final class Pause {

        private final String where;
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch opened = new CountDownLatch(1);

        private Pause(String where) {
            this.where = where;
        }

        /** Waits until a thread has been stopped here. */
        public void awaitReached(Duration timeout) {
            try {
                if (!reached.await(timeout.toNanos(), TimeUnit.NANOSECONDS)) {
                    throw Measurement.late("No thread has come to \"" + where + "\" within " + timeout);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("Interrupted while waiting for \"" + where + "\"", e);
            }
        }

        /** Whether a thread has been stopped here. */
        public boolean isReached() {
            return reached.getCount() == 0;
        }

        /** Lets the thread go on, or pass when it comes. */
        public void open() {
            opened.countDown();
        }

        private void hold() throws SQLException {
            reached.countDown();
            try {
                if (!opened.await(LONGEST_PAUSE.toNanos(), TimeUnit.NANOSECONDS)) {
                    throw new SQLException("The gate at \"" + where + "\" was not opened within " + LONGEST_PAUSE);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new SQLException("Interrupted at \"" + where + "\"", e);
            }
        }
    }
}
