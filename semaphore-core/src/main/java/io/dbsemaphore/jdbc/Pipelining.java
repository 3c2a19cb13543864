package io.dbsemaphore.jdbc;

import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ClassUtils;

/**
 * Whether several statements are sent at once to the sessions of a pool. A filter of the pool, a proxy or a firewall
 * may reject them although the driver supports it: the first rejection disables it for this pool, with a warning.
 */
final class Pipelining {

    private static final Logger log = LoggerFactory.getLogger(Pipelining.class);

    private static final boolean MYSQL_DRIVER =
            ClassUtils.isPresent("com.mysql.cj.NativeSession", Pipelining.class.getClassLoader());

    private static final Set<Integer> REFUSED_BY_SERVER = Set.of(
            1064, // syntax error: the text is parsed as one statement
            1148); // command not allowed

    private final AtomicBoolean on;

    Pipelining(boolean on) {
        this.on = new AtomicBoolean(on);
    }

    /** Whether it may be enabled in a new session. */
    boolean isPossible() {
        return MYSQL_DRIVER && on.get();
    }

    boolean isOn() {
        return on.get();
    }

    /**
     * Whether the server, or a proxy in front of it, rejected the text of several statements, each of which is valid.
     */
    static boolean isRefusedByServer(SQLException failure) {
        return REFUSED_BY_SERVER.contains(failure.getErrorCode());
    }

    /** Disables it after a rejection: from now on the statements are sent one by one. */
    void switchOff(SQLException refusal) {
        if (on.compareAndSet(true, false)) {
            log.warn(
                    "The DataSource of the semaphores rejects several statements at once. From now on each statement takes"
                            + " its own round trip: an acquire takes six instead of two. Allow them in the filter, proxy"
                            + " or firewall that rejects them, or set semaphore.pipelining=false to avoid this warning",
                    refusal);
        }
    }
}
