package io.dbsemaphore.tools.benchmark;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * What the database server has done: since it was started, or between two readings.
 *
 * @param commits the transactions that have written, by its own counters; 0 where it has none
 * @param cpuNanos the CPU time of its process; 0 where that is unknown
 * @param trips the round trips through a proxy that it has answered; 0 without one
 */
record ServerWork(long commits, long cpuNanos, long trips) implements Serializable {

    static final ServerWork UNKNOWN = new ServerWork(0, 0, 0);

    /** What was done between an earlier reading and this one. */
    ServerWork since(ServerWork earlier) {
        return new ServerWork(commits - earlier.commits, cpuNanos - earlier.cpuNanos, trips - earlier.trips);
    }

    /** Reads the counters of one server. */
    static final class Meter {

        /** The kernel counts in hundredths of a second, on every platform that has /proc. */
        private static final long NANOS_PER_TICK = 10_000_000;

        static final String TABLE_OF_MYSQL = "performance_schema.events_transactions_summary_global_by_event_name";

        private static final String OF_MYSQL =
                "select count_read_write from " + TABLE_OF_MYSQL + " where event_name = 'transaction'";

        private final JdbcTemplate jdbc;
        private final boolean counts;
        private final @Nullable Path process;

        /**
         * A meter of a server.
         *
         * @param processId of the server, on this machine; null where it is unknown
         */
        Meter(DataSource dataSource, boolean counts, @Nullable Long processId) {
            this.jdbc = new JdbcTemplate(dataSource);
            this.counts = counts;
            this.process = processId == null ? null : Path.of("/proc", processId.toString(), "stat");
            if (process != null && !Files.isReadable(process)) {
                throw new IllegalArgumentException("--server-pid=" + processId + ": there is no " + process);
            }
        }

        /** @param trips what a proxy has counted */
        ServerWork read(long trips) throws IOException {
            Long commits = counts ? jdbc.queryForObject(OF_MYSQL, Long.class) : null;
            return new ServerWork(commits == null ? 0 : commits, process == null ? 0 : cpuNanos(process), trips);
        }

        private static long cpuNanos(Path stat) throws IOException {
            String text = Files.readString(stat);
            // after the name of the command, which may contain spaces; see proc(5): utime and stime are the fields 14
            // and 15
            List<String> fields =
                    List.of(text.substring(text.lastIndexOf(')') + 2).split(" "));
            return (Long.parseLong(fields.get(11)) + Long.parseLong(fields.get(12))) * NANOS_PER_TICK;
        }
    }
}
