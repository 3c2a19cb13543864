package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.config.SemaphorePatterns;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.engine.batch.AcquireAnswer;
import io.dbsemaphore.engine.maintenance.DatabaseSemaphoreMaintenance;
import io.dbsemaphore.engine.support.Retries;
import io.dbsemaphore.persistence.AdminTransactions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates semaphores that match a pattern on first use, each in a transaction of its own. */
final class PatternSemaphoreCreator {

    private static final Logger log = LoggerFactory.getLogger(PatternSemaphoreCreator.class);

    /**
     * How often an acquire creates missing semaphores: other instances may delete one between its creation and the grant,
     * several times in a row.
     */
    static final int MAX_REPEATED = 100;

    private final SemaphorePatterns patterns;
    private final AdminTransactions admin;
    private final Retries retry;

    PatternSemaphoreCreator(SemaphorePatterns patterns, AdminTransactions admin, Retries retry) {
        this.patterns = patterns;
        this.admin = admin;
        this.retry = retry;
    }

    /**
     * Creates the missing semaphores for which an acquire was rejected, if all of them match patterns.
     *
     * @return whether the acquire is to be tried again
     */
    boolean createMissing(AcquireAnswer answer) {
        return answer.outcome() instanceof GrantOutcome.Rejected rejected
                && rejected.reason() instanceof SemaphoreNotFoundException unknown
                && createAll(unknown);
    }

    private boolean createAll(SemaphoreNotFoundException unknown) {
        if (unknown.names().stream().anyMatch(name -> patterns.match(name).isEmpty())) {
            return false;
        }
        unknown.names().forEach(name -> patterns.match(name).ifPresent(match -> create(name, match)));
        return true;
    }

    private void create(String name, SemaphorePatterns.Match match) {
        // another JVM that creates it at the same time causes a duplicate key; the next attempt finds it
        boolean created = retry.call(() -> admin.createOfPattern(
                name,
                match.capacity(),
                match.pattern(),
                patterns.maxSemaphores(),
                DatabaseSemaphoreMaintenance.SEMAPHORE));
        if (created) {
            log.info(
                    "Created semaphore '{}' with capacity {} by the pattern '{}'",
                    name,
                    match.capacity(),
                    match.pattern());
        }
    }
}
