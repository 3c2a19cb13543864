package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A session that was open when a thread wanted one, for the next transaction of that thread: neither the host's pool nor an
 * unresponsive server can hold it up for longer than it has time.
 */
final class OpenSession implements ConnectionSource {

    private static final Logger log = LoggerFactory.getLogger(OpenSession.class);

    private final SessionPool pool;
    private @Nullable PreparedSession session;

    private OpenSession(SessionPool pool, PreparedSession session) {
        this.pool = pool;
        this.session = session;
    }

    /**
     * Takes an open session from the pool; null if there is none.
     *
     * @param until the instant of {@link System#nanoTime} until which the thread has time
     */
    static @Nullable OpenSession take(SessionPool pool, long until) {
        PreparedSession session = pool.takeOpen();
        if (session == null) {
            return null;
        }
        session.limitUntil(until);
        return new OpenSession(pool, session);
    }

    /** A further transaction takes its session from the pool, as any other thread does. */
    @Override
    public Connection borrow() throws SQLException {
        PreparedSession own = session;
        session = null;
        return own == null ? pool.borrow() : pool.begin(own);
    }

    /** Returns the session if no transaction has used it. */
    void close() {
        PreparedSession unused = session;
        session = null;
        if (unused != null) {
            try {
                pool.returned(unused);
            } catch (SQLException | RuntimeException failure) {
                log.debug("A connection could not be returned to the pool", failure);
            }
        }
    }
}
