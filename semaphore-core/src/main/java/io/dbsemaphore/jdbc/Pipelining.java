package io.dbsemaphore.jdbc;

import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ClassUtils;

/**
 * Whether the sessions of a pool are sent several statements at once. A filter of the pool, a proxy or a firewall may refuse
 * them although the driver can do it: the first refusal switches it off for this pool, with a warning.
 */
final class Pipelining {

    private static final Logger log = LoggerFactory.getLogger(Pipelining.class);

    private static final boolean MYSQL_DRIVER =
            ClassUtils.isPresent("com.mysql.cj.NativeSession", Pipelining.class.getClassLoader());

    private static final Set<Integer> REFUSED_BY_SERVER = Set.of(
            1064, // syntax error: the text is taken for one statement
            1148); // command not allowed

    private final AtomicBoolean on;

    Pipelining(boolean on) {
        this.on = new AtomicBoolean(on);
    }

    /** Whether a session may be opened for it. */
    boolean isPossible() {
        return MYSQL_DRIVER && on.get();
    }

    boolean isOn() {
        return on.get();
    }

    /** Whether the server, or what answers for it, has refused the text of several statements, each of which is valid. */
    static boolean isRefusedByServer(SQLException failure) {
        return REFUSED_BY_SERVER.contains(failure.getErrorCode());
    }

    /** Several statements were refused: from now on each is sent by itself. */
    void switchOff(SQLException refusal) {
        if (on.compareAndSet(true, false)) {
            log.warn(
                    "The DataSource of the semaphores refuses several statements at once, so each is a round trip of its"
                            + " own from now on: an acquire takes six instead of two. Allow them in the filter, proxy or"
                            + " firewall that refuses them, or set semaphore.pipelining=false to do without this warning",
                    refusal);
        }
    }
}
