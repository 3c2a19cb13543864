package io.dbsemaphore.test;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.InstanceStatus;
import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreInUseException;
import io.dbsemaphore.admin.SemaphoreName;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.admin.SemaphoreStatus.ShareStatus;
import io.dbsemaphore.admin.SemaphoreStatus.Since;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingCaller;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingInstance;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/** Creates semaphores in memory, and says who holds them. There are no reports about requests that have ended. */
record InMemoryAdmin(InMemoryPermits permits) implements SemaphoreAdmin {

    @Override
    public boolean create(String name, int capacity) {
        requireCapacity(name, capacity);
        return of(name, ledger -> ledger.create(name, capacity));
    }

    @Override
    public void setCapacity(String name, int capacity, String changedBy, String reason) {
        requireCapacity(name, capacity);
        ofExisting(name, ledger -> ledger.capacities.put(name, capacity));
    }

    @Override
    public boolean delete(String name) {
        return of(name, ledger -> {
            if (ledger.held(name) > 0) {
                throw new SemaphoreInUseException(name, ledger.held(name));
            }
            return ledger.delete(name);
        });
    }

    @Override
    public Optional<SemaphoreStatus> find(String name) {
        return of(
                name, ledger -> Optional.ofNullable(ledger.capacities.get(name)).map(capacity -> status(ledger, name)));
    }

    @Override
    public List<SemaphoreStatus> list() {
        return permits.change(ledger -> ledger.capacities.keySet().stream()
                .map(name -> status(ledger, name))
                .toList());
    }

    @Override
    public List<SemaphoreStatus> list(String containing, String afterName, int limit) {
        String text = containing.toLowerCase(Locale.ROOT);
        return list().stream()
                .filter(status -> status.name().compareTo(afterName) > 0)
                .filter(status -> status.name().toLowerCase(Locale.ROOT).contains(text))
                .limit(limit)
                .toList();
    }

    private SemaphoreStatus status(Ledger ledger, String name) {
        return new SemaphoreStatus(
                name,
                ledger.capacity(name),
                ledger.held(name),
                ledger.available(name),
                ledger.holders(name).count(),
                permits.waiting(name));
    }

    @Override
    public List<PermitHolder> holders(String name) {
        return ofExisting(
                name,
                ledger -> ledger.holders(name)
                        .map(request -> new PermitHolder(
                                request.externalId,
                                request.owner,
                                request.label,
                                request.permits.getOrDefault(name, 0),
                                request.tokens.getOrDefault(name, 0L),
                                request.acquiredAt,
                                request.expiresAt(now()),
                                Optional.empty()))
                        .toList());
    }

    @Override
    public List<PermitHolder> holders(String name, String containing, long afterToken, int limit) {
        String text = containing.toLowerCase(Locale.ROOT);
        return holders(name).stream()
                .filter(holder -> holder.fencingToken() > afterToken)
                .filter(holder -> (holder.owner() + "\n" + holder.label().orElse("") + "\n" + holder.externalId())
                        .toLowerCase(Locale.ROOT)
                        .contains(text))
                .limit(limit)
                .toList();
    }

    @Override
    public Instant now() {
        return permits.now();
    }

    @Override
    public ReleaseOutcome forceRelease(String externalId, String releasedBy, String reason) {
        return permits.releaseNow(SemaphoreName.requireValidKey("external id", externalId));
    }

    @Override
    public int setCapacityOfPattern(String pattern, int capacity, String changedBy, String reason) {
        throw unsupported();
    }

    @Override
    public OtherCapacities otherCapacities(String pattern, int capacity) {
        throw unsupported();
    }

    @Override
    public List<PermitUse> requests(String name, Instant from, Instant to, int limit) {
        throw unsupported();
    }

    @Override
    public List<Since> since(String containing, String afterName, int limit) {
        throw unsupported();
    }

    @Override
    public int granted(Duration last) {
        throw unsupported();
    }

    @Override
    public List<WaitingInstance> waiting(String name) {
        throw unsupported();
    }

    @Override
    public List<WaitingCaller> waitingCallers(String name, int limit) {
        throw unsupported();
    }

    @Override
    public List<ShareStatus> shares(String name, int limit) {
        throw unsupported();
    }

    @Override
    public List<InstanceStatus> instances() {
        throw unsupported();
    }

    @Override
    public List<CapacityChange> capacityHistory(String name, int limit) {
        throw unsupported();
    }

    @Override
    public List<CapacityChange> capacityHistory(String name) {
        throw unsupported();
    }

    @Override
    public List<Reclaim> reclaims(String name, int limit) {
        throw unsupported();
    }

    private static UnsupportedOperationException unsupported() {
        return new UnsupportedOperationException(
                "Semaphores in memory have neither a history nor instances, and patterns keep their"
                        + " capacity: test this on a database, such as H2 in memory");
    }

    private <T> T of(String name, Function<Ledger, T> operation) {
        SemaphoreName.requireValid(name);
        return permits.change(operation);
    }

    private <T> T ofExisting(String name, Function<Ledger, T> operation) {
        return of(name, ledger -> {
            if (!ledger.capacities.containsKey(name)) {
                throw SemaphoreNotFoundException.nothingChanged(name);
            }
            return operation.apply(ledger);
        });
    }

    private static void requireCapacity(String name, int capacity) {
        if (capacity < 0) {
            throw new IllegalArgumentException(
                    "The capacity of semaphore '%s' must not be negative: %d".formatted(name, capacity));
        }
    }
}
