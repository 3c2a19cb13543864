package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.jdbc.ReleaseChannel;
import io.dbsemaphore.jdbc.Sessions;
import java.time.Duration;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;

/** The thread of the listener ends where the driver does not support notifications. */
class RemoteReleaseListenerTests {

    private static final Duration LIMIT = Duration.ofSeconds(5);

    @Test
    void canBeginAsOftenAsBatchesEnd() throws Exception {
        JdbcDataSource dataSource = new JdbcDataSource(); // whose connections are not PostgreSQL's
        dataSource.setURL("jdbc:h2:mem:listener");
        DaemonThreads threads = new DaemonThreads();
        try (Sessions sessions = new Sessions(
                dataSource, Database.POSTGRESQL, LIMIT, LIMIT, 4, false, new DatabaseThreads(4, threads))) {
            ReleaseChannel channel =
                    ReleaseChannel.of(sessions, Database.POSTGRESQL, "").orElseThrow();
            RemoteReleaseListener listener = new RemoteReleaseListener(channel, () -> true, names -> {});
            Thread thread = threads.create("listener", listener);
            thread.start();
            thread.join(LIMIT.toMillis());
            assertThat(thread.isAlive()).isFalse();

            assertThatCode(() -> {
                        for (long i = 0; i <= 1L << 31; i++) { // for weeks, one for each batch while a caller waits
                            listener.begin();
                        }
                    })
                    .doesNotThrowAnyException();
        }
    }
}
