package io.dbsemaphore.persistence;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.admin.SemaphoreInUseException;
import io.dbsemaphore.domain.LockedSemaphore;
import io.dbsemaphore.persistence.PermitTable.NamedPermit;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import io.dbsemaphore.persistence.unit.TableCheck;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The operations of an administrator, each in a transaction of its own. A change of a semaphore locks its row, as a grant
 * does.
 */
public final class AdminTransactions {

    private final ShortTransaction transaction;
    private final Tables tables;
    private final SemaphoreTable semaphores;
    private final BatchTransaction releases;

    AdminTransactions(ShortTransaction transaction, Tables tables, BatchTransaction releases) {
        this.transaction = transaction;
        this.tables = tables;
        this.semaphores = tables.semaphores();
        this.releases = releases;
    }

    /** The first names in alphabetical order, without those that a pattern has created. */
    public List<String> names(int limit) {
        return transaction.execute(() -> semaphores.findNames(limit));
    }

    /**
     * Creates a semaphore; false if it exists.
     *
     * @throws RuntimeException for a duplicate key if another transaction creates it at the same time; retry
     */
    public boolean create(String name, int capacity) {
        return transaction.execute(() -> {
            boolean missing = semaphores.findId(name).isEmpty();
            if (missing) {
                insert(name, capacity);
            }
            return missing;
        });
    }

    /**
     * A semaphore that a pattern creates.
     *
     * @param name its name
     * @param capacity its capacity
     * @param pattern the pattern
     */
    public record PatternSemaphore(String name, int capacity, String pattern) {}

    /**
     * The result of {@link #createOfPatterns}. Semaphores in neither component existed before.
     *
     * @param created the semaphores that are new, sorted by name
     * @param beyondLimit the names of the semaphores that the limit does not allow
     */
    public record Creation(List<PatternSemaphore> created, Set<String> beyondLimit) {}

    /**
     * Creates those of these semaphores that do not exist, the first ones as far as the limit allows.
     *
     * @param wanted have distinct names
     * @param maxOfPatterns the maximum number of semaphores created by patterns
     * @param guard the name of the semaphore whose row is locked while they are counted
     * @throws RuntimeException for a duplicate key if another transaction creates one at the same time; retry
     */
    public Creation createOfPatterns(Collection<PatternSemaphore> wanted, long maxOfPatterns, String guard) {
        return transaction.execute(() -> {
            if (lock(guard).isEmpty()) {
                insert(guard, 1);
            }
            Set<String> existing = semaphores
                    .findIds(wanted.stream().map(PatternSemaphore::name).toList())
                    .keySet();
            List<PatternSemaphore> missing = wanted.stream()
                    .filter(each -> !existing.contains(each.name()))
                    .toList();
            if (missing.isEmpty()) {
                return new Creation(List.of(), Set.of());
            }
            long allowed = Math.max(0, maxOfPatterns - semaphores.countOfPatterns());
            List<PatternSemaphore> created = missing.stream()
                    .limit(allowed)
                    .sorted(Comparator.comparing(PatternSemaphore::name))
                    .toList();
            if (!created.isEmpty()) {
                semaphores.insert(created.stream()
                        .map(each -> row(each.name(), each.capacity(), each.pattern()))
                        .toList());
            }
            return new Creation(
                    created,
                    missing.stream().skip(allowed).map(PatternSemaphore::name).collect(Collectors.toSet()));
        });
    }

    private void insert(String name, int capacity) {
        semaphores.insert(List.of(row(name, capacity, null)));
    }

    private List<@Nullable Object> row(String name, int capacity, @Nullable String pattern) {
        return Arrays.asList(tables.ids().next(), name, capacity, pattern);
    }

    /**
     * Releases a request without its holder, and inserts one audit row for each semaphore in the same transaction. Waits if another
     * transaction has locked the request or its permits.
     */
    public ReleaseOutcome forceRelease(String externalId, String releasedBy, String reason) {
        return transaction.execute(() -> {
            List<PermitRequest> found = tables.requests().findByExternalIds(List.of(externalId));
            if (found.isEmpty()) {
                return ReleaseOutcome.NOT_FOUND;
            }
            PermitRequest request = found.get(0);
            Supplier<Integer> released = releases.queueRelease(request.id());
            List<NamedPermit> permits = tables.permits().findByRequests(List.of(request.id()));
            if (released.get() == 0) {
                return ReleaseOutcome.ALREADY_RELEASED;
            }
            tables.history()
                    .add(permits.stream()
                            .map(permit -> tables.history().released(permit, request, releasedBy, reason))
                            .toList());
            return ReleaseOutcome.RELEASED;
        });
    }

    /** Changes a capacity and inserts the audit row; does nothing if the capacity is unchanged. */
    public void setCapacity(String name, int capacity, String changedBy, String reason) {
        transaction.run(() -> {
            LockedSemaphore semaphore = lock(name).orElseThrow(() -> SemaphoreNotFoundException.nothingChanged(name));
            if (semaphore.capacity() != capacity) {
                semaphores.queueUpdateCapacity(semaphore.id(), capacity);
                tables.history().add(List.of(tables.history().changed(semaphore, capacity, changedBy, reason)));
            }
        });
    }

    /** Deletes a semaphore of which no permit is held; false if it does not exist. */
    public boolean delete(String name) {
        return transaction.executeWithRepositories(() -> {
            Optional<LockedSemaphore> semaphore = lock(name);
            if (semaphore.isEmpty()) {
                return false;
            }
            long id = semaphore.get().id();
            long held = semaphores.rows().sumHeld(id);
            if (held > 0) {
                throw new SemaphoreInUseException(name, held);
            }
            semaphores.rows().delete(id);
            semaphores.forget(List.of(id));
            return true;
        });
    }

    /** Reads from each table, and executes an update that matches no row, to detect a missing table or a read-only server. */
    public void touchTables() {
        transaction.run(() -> TableCheck.touch(tables.sql(), SemaphorePersistence.ENTITIES));
    }

    private Optional<LockedSemaphore> lock(String name) {
        Optional<Supplier<List<LockedSemaphore>>> locked = semaphores.findId(name).map(semaphores::lock);
        tables.sql().flush();
        return locked.flatMap(rows -> rows.get().stream().findFirst());
    }
}
