package io.dbsemaphore.engine;

import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.persistence.MaintenanceTransactions.Owners;
import io.dbsemaphore.persistence.ReclaimReason;
import io.dbsemaphore.spi.Liveness;
import io.dbsemaphore.spi.OwnerLiveness;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Detects dead owners: those that a liveness check has reported dead twice in a row, a grace period apart. Until the second
 * report an owner is only suspected (see Chandra and Toueg, <a
 * href="https://doi.org/10.1145/226643.226647">Unreliable Failure Detectors for Reliable Distributed Systems</a>, 1996).
 */
final class DeadOwners {

    private static final Logger log = LoggerFactory.getLogger(DeadOwners.class);

    private final Supplier<List<OwnerLiveness>> checks;
    private final Duration grace;
    private final Map<String, Suspicion> suspects = new HashMap<>();

    /** When an owner was first reported dead, and from when a second report counts. */
    private record Suspicion(Instant since, Deadline confirmable) {}

    DeadOwners(Supplier<List<OwnerLiveness>> checks, Duration grace) {
        this.checks = checks;
        this.grace = grace;
    }

    boolean hasChecks() {
        return !checks.get().isEmpty();
    }

    /** Checks each of these owners, and returns the dead ones. */
    synchronized List<ReclaimReason> among(Owners owners) {
        suspects.keySet().retainAll(new HashSet<>(owners.names()));
        List<ReclaimReason> dead = new ArrayList<>();
        for (String owner : owners.names()) {
            if (check(owner) != Liveness.DEAD) {
                suspects.remove(owner);
                continue;
            }
            Suspicion suspicion = suspects.get(owner);
            if (suspicion == null) {
                suspects.put(owner, new Suspicion(owners.asOf(), Deadline.in(grace)));
            } else if (suspicion.confirmable().isPassed()) {
                dead.add(ReclaimReason.ownerDead(owner, suspicion.since()));
                suspects.remove(owner); // if it returns, it must be reported twice again
            }
        }
        return dead;
    }

    private Liveness check(String owner) {
        for (OwnerLiveness check : checks.get()) {
            try {
                Liveness liveness = check.check(owner);
                if (liveness != Liveness.UNKNOWN) {
                    return liveness;
                }
            } catch (RuntimeException failure) {
                log.warn(
                        "{} could not check whether owner '{}' is alive; the owner keeps its permits",
                        check,
                        owner,
                        failure);
            }
        }
        return Liveness.UNKNOWN;
    }
}
