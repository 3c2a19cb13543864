package io.dbsemaphore.maintenance;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.SemaphorePatterns;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;

/** The maintenance repairs requests that were released without their permits. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HalfReleasedIntegrationTests {

    private static final Duration AN_HOUR = Duration.ofHours(1);

    /** An owner counts as dead when that was said twice, without a pause between. */
    @RegisterExtension
    static final Instances instances = new Instances(Instances.maintenance(800, Duration.ofHours(24), Duration.ZERO));

    private final Node sweeper = instances.first();
    private final Node holder = instances.second();
    private final String name = instances.semaphore(5);
    private final String id = instances.externalId();

    @AfterEach
    void leavesEverythingConsistent() {
        instances.assertConsistent();
        assertThat(instances.held(Instances.MAINTENANCE)).isZero();
    }

    @Test
    void mendsMoreThanOneBatchOfWhatWasHalfReleased() {
        Node narrow = instances.start(Instances.inBatchesOf(3), SemaphorePatterns.NONE);
        String wide = instances.semaphore(10);
        for (int i = 0; i < 10; i++) {
            holder.semaphores().acquire(AcquireRequest.of(wide).withTtl(AN_HOUR));
        }
        instances.jdbc().update("update permit_request set state = 'RELEASED' where state = 'ACQUIRED'");

        narrow.maintenance().releaseOrphans();

        assertThat(instances.held(wide)).isZero();
    }

    @Test
    void mendsWhatWasHalfReleasedAndSaysSo() {
        acquire(AcquireRequest.of(name).withPermits(name, 3).withTtl(AN_HOUR));
        String whole = instances.externalId();
        holder.semaphores().acquire(AcquireRequest.of(name).withExternalId(whole));
        instances.jdbc().update("update permit_request set state = 'RELEASED' where external_id = ?", id);
        assertThat(instances.held(name)).isEqualTo(4);

        List<ILoggingEvent> warnings =
                warningsOf("io.dbsemaphore.engine.maintenance.DatabaseSemaphoreMaintenance", () -> {
                    sweeper.maintenance().releaseOrphans();
                    sweeper.maintenance().releaseOrphans();
                });

        assertThat(instances.held(name)).isEqualTo(1);
        assertThat(instances.states(whole)).containsExactly("ACQUIRED");
        assertThat(warnings)
                .singleElement()
                .satisfies(warning -> assertThat(warning.getFormattedMessage()).contains("Freed 1 permit(s)"));
    }

    private PermitGrant acquire(AcquireRequest request) {
        return holder.semaphores().acquire(request.withExternalId(id));
    }

    private static List<ILoggingEvent> warningsOf(String loggerName, Runnable work) {
        Logger logger = (Logger) LoggerFactory.getLogger(loggerName);
        ListAppender<ILoggingEvent> appender = new ListAppender<>();
        appender.start();
        logger.addAppender(appender);
        logger.setAdditive(false);
        try {
            work.run();
        } finally {
            logger.setAdditive(true);
            logger.detachAppender(appender);
        }
        return appender.list.stream()
                .filter(event -> event.getLevel() == Level.WARN)
                .toList();
    }
}
