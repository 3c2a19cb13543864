package io.dbsemaphore.engine.maintenance;

import io.dbsemaphore.Liveness;
import io.dbsemaphore.OwnerLiveness;
import io.dbsemaphore.domain.ReclaimReason.OwnerDead;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.persistence.MaintenanceTransactions.Owners;
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

/** Which owners are dead: those of which that was said twice in a row, a grace apart. */
public final class DeadOwners {

    private static final Logger log = LoggerFactory.getLogger(DeadOwners.class);

    private final Supplier<List<OwnerLiveness>> judges;
    private final Duration grace;
    private final Map<String, Suspicion> suspects = new HashMap<>();

    /** When an owner was first found dead, and from when on a second time counts. */
    private record Suspicion(Instant since, Deadline confirmable) {}

    public DeadOwners(Supplier<List<OwnerLiveness>> judges, Duration grace) {
        this.judges = judges;
        this.grace = grace;
    }

    /** Whether anybody is there to ask. */
    boolean canTell() {
        return !judges.get().isEmpty();
    }

    /** Asks for each of these owners, and returns the dead. */
    synchronized List<OwnerDead> among(Owners owners) {
        suspects.keySet().retainAll(new HashSet<>(owners.names()));
        List<OwnerDead> dead = new ArrayList<>();
        for (String owner : owners.names()) {
            if (judge(owner) != Liveness.DEAD) {
                suspects.remove(owner);
                continue;
            }
            Suspicion suspicion = suspects.get(owner);
            if (suspicion == null) {
                suspects.put(owner, new Suspicion(owners.asOf(), Deadline.in(grace)));
            } else if (suspicion.confirmable().isPassed()) {
                dead.add(new OwnerDead(owner, suspicion.since()));
                suspects.remove(owner); // should it come back and die again, it must be found dead twice again
            }
        }
        return dead;
    }

    private Liveness judge(String owner) {
        for (OwnerLiveness judge : judges.get()) {
            try {
                Liveness liveness = judge.check(owner);
                if (liveness != Liveness.UNKNOWN) {
                    return liveness;
                }
            } catch (RuntimeException failure) {
                log.warn("{} could not tell whether owner '{}' lives; it keeps what it has", judge, owner, failure);
            }
        }
        return Liveness.UNKNOWN;
    }
}
