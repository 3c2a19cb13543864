package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.config.SemaphorePatterns;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.engine.batch.Granter;
import io.dbsemaphore.engine.maintenance.DatabaseSemaphoreMaintenance;
import io.dbsemaphore.engine.support.Retries;
import io.dbsemaphore.persistence.AdminTransactions;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes semaphores on first use where a pattern allows it, each in a transaction of its own. */
final class PatternSemaphoreCreator {

    private static final Logger log = LoggerFactory.getLogger(PatternSemaphoreCreator.class);

    private final SemaphorePatterns patterns;
    private final AdminTransactions admin;
    private final Retries retry;

    PatternSemaphoreCreator(SemaphorePatterns patterns, AdminTransactions admin, Retries retry) {
        this.patterns = patterns;
        this.admin = admin;
        this.retry = retry;
    }

    /** Grants; where that fails for names that patterns match, makes those semaphores and grants again. */
    Granter.Answer grant(Supplier<Granter.Answer> grant) {
        Granter.Answer answer = grant.get();
        return makesMissing(answer) ? grant.get() : answer;
    }

    /** Where the answer is that semaphores are missing which patterns match, makes them; then to be granted again. */
    boolean makesMissing(Granter.Answer answer) {
        return answer.outcome() instanceof GrantOutcome.Rejected rejected
                && rejected.reason() instanceof SemaphoreNotFoundException unknown
                && makeAll(unknown);
    }

    private boolean makeAll(SemaphoreNotFoundException unknown) {
        if (unknown.names().stream().anyMatch(name -> patterns.match(name).isEmpty())) {
            return false;
        }
        unknown.names().forEach(name -> patterns.match(name).ifPresent(match -> make(name, match)));
        return true;
    }

    private void make(String name, SemaphorePatterns.Match match) {
        // somebody who makes it at the same time causes a duplicate key; the next attempt finds it
        boolean made = retry.call(() -> admin.createOfPattern(
                name,
                match.capacity(),
                match.pattern(),
                patterns.maxSemaphores(),
                DatabaseSemaphoreMaintenance.SEMAPHORE));
        if (made) {
            log.info(
                    "Made semaphore '{}' with capacity {} by the pattern '{}'",
                    name,
                    match.capacity(),
                    match.pattern());
        }
    }
}
