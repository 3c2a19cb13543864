package io.dbsemaphore.tools.faults;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.tools.faults.oracle.Findings;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Finds permits that are still held when all clients have stopped and everything has expired. */
final class FinalCheck {

    private final SemaphoreTemplate semaphores;
    private final Findings findings;
    private final Duration tolerance;

    /** @param tolerance how long after the run the last permit may become available */
    FinalCheck(SemaphoreTemplate semaphores, Findings findings, Duration tolerance) {
        this.semaphores = semaphores;
        this.findings = findings;
        this.tolerance = tolerance;
    }

    /**
     * Acquires the whole capacity of each semaphore.
     *
     * @return how long it took until all of them were available
     */
    Duration acquireAll(Collection<String> names) {
        long begin = System.nanoTime();
        long end = begin + tolerance.toNanos();
        for (String name : names) {
            Duration wait = Duration.ofNanos(Math.max(TimeUnit.SECONDS.toNanos(1), end - System.nanoTime()));
            try (PermitGrant grant =
                    semaphores.acquire(AcquireRequest.of(name).exclusive().withWaitTime(wait))) {
                // All of it was available
            } catch (RuntimeException failure) {
                findings.add(Findings.Kind.LEAK, name + ": " + failure);
            }
        }
        return Duration.ofNanos(System.nanoTime() - begin);
    }

    /** Looks for requests of unknown outcome that are still held. */
    void find(List<String> unknown) {
        for (String externalId : unknown) {
            semaphores
                    .find(externalId)
                    .ifPresent(grant -> findings.add(
                            Findings.Kind.UNRESOLVED, "The outcome was unknown, and it is still held: " + grant));
        }
    }
}
