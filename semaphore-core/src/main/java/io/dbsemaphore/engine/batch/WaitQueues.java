package io.dbsemaphore.engine.batch;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.domain.Demand;
import io.dbsemaphore.domain.LocalQueue;
import io.dbsemaphore.domain.PolledAvailability;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.domain.Waiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.ObjLongConsumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The wait queues of this JVM, an {@link AwaitedSemaphore} each. Each has an estimate of the available permits, so that a waiter
 * is woken when it can probably be granted, and only then; the database decides. Guarded by the lock of {@link GrantQueue}.
 */
final class WaitQueues {

    /** Concurrent, so that {@link #isAwaited(String)} can be asked without the lock. */
    private final Map<String, AwaitedSemaphore> byName = new ConcurrentHashMap<>();

    private final Set<String> departed = new HashSet<>();
    private final QueueClock clock;
    private final ArrivalClock arrivals;

    WaitQueues(QueueClock clock) {
        this.clock = clock;
        arrivals = new ArrivalClock(clock);
    }

    ArrivalClock arrivals() {
        return arrivals;
    }

    /** Records the database's clock, by the answer of one transaction, which began at this instant of the monotonic clock. */
    void recordClock(Collection<RemainingAvailability> availability, long asOf) {
        availability.stream()
                .mapToLong(each -> Waiter.micros(each.readAt()))
                .max()
                .ifPresent(micros -> arrivals.read(micros, asOf));
    }

    /** The semaphores that callers wait for. */
    Set<String> names() {
        return Set.copyOf(byName.keySet());
    }

    boolean isEmpty() {
        return byName.isEmpty();
    }

    /** Whether a caller waits for this semaphore. May be called without the lock. */
    boolean isAwaited(String name) {
        return byName.containsKey(name);
    }

    boolean isAwaited(Collection<String> names) {
        return names.stream().anyMatch(byName::containsKey);
    }

    /** Adds a refused acquire to the wait queues of its semaphores, also of those with enough permits. */
    void park(Acquire acquire, Map<String, RemainingAvailability> availability) {
        long readAt = availability.values().stream()
                .mapToLong(each -> Waiter.micros(each.readAt())) // of one statement
                .max()
                .orElse(0);
        acquire.setSince(Math.min(readAt, arrivals.arrivalOf(acquire)));
        Map<String, PermitShortage> shortages = acquire.lastShortages().stream()
                .collect(Collectors.toMap(PermitShortage::name, Function.identity(), (one, same) -> one));
        try {
            acquire.command().permits().forEach((name, count) -> {
                PermitShortage shortage = shortages.get(name);
                PermitShortage latest = shortage == null
                        ? enough(
                                name,
                                acquire.command().exclusive(),
                                count,
                                Objects.requireNonNull(availability.get(name)))
                        : shortage;
                byName.computeIfAbsent(name, added -> new AwaitedSemaphore(latest, readAt, acquire.queuedAt(), clock))
                        .park(acquire, latest.requested(), shortage != null);
            });
        } catch (RuntimeException | Error failure) { // all or none of them
            remove(acquire);
            byName.values().removeIf(semaphore -> semaphore.waiting().isEmpty());
            throw failure;
        }
    }

    private static PermitShortage enough(String name, boolean exclusive, int count, RemainingAvailability remaining) {
        int requested = exclusive ? remaining.capacity() : count;
        return new PermitShortage(name, remaining.capacity(), remaining.held(), requested, Optional.empty(), 0);
    }

    Map<String, LocalQueue> local(Collection<String> names) {
        Map<String, LocalQueue> local = new HashMap<>();
        names.forEach(name -> find(name)
                .ifPresent(semaphore -> local.put(name, semaphore.waiting().toLocal())));
        return local;
    }

    /** Records that a caller no longer waits, and that no transaction has told the other instances yet. */
    void recordDeparted(Acquire acquire) {
        recordDeparted(acquire.names());
    }

    void recordDeparted(Collection<String> names) {
        departed.addAll(names);
    }

    boolean hasDeparted() {
        return !departed.isEmpty();
    }

    /** Removes and returns the semaphores that callers have left since the last call. */
    Set<String> takeDeparted(Predicate<String> filter) {
        Set<String> taken = departed.stream().filter(filter).collect(Collectors.toUnmodifiableSet());
        departed.removeAll(taken);
        return taken;
    }

    /** Whether a caller of another instance is to be served before the first of this one. */
    boolean isNextElsewhere(String name) {
        AwaitedSemaphore semaphore = byName.get(name);
        return semaphore != null && semaphore.instancesAhead() > 0;
    }

    /** Whether another instance was granted permits of a semaphore since the last call. */
    boolean takeGrantedElsewhere() {
        boolean any = false;
        for (AwaitedSemaphore semaphore : byName.values()) {
            any |= semaphore.takeGrantedElsewhere();
        }
        return any;
    }

    /** The shortest time after which the poller should look at a semaphore. */
    Duration pollAfter(Duration sinceChange) {
        return byName.values().stream()
                .map(semaphore -> PollingInterval.of(semaphore.instancesAhead(), semaphore.nanosToTurn(), sinceChange))
                .min(Comparator.naturalOrder())
                .orElse(sinceChange);
    }

    /** Whether callers of this instance are next, as far as is known, and lack one permit. */
    boolean isServedByOnePermit(String name) {
        AwaitedSemaphore semaphore = byName.get(name);
        return semaphore != null && semaphore.instancesAhead() == 0 && semaphore.missing() == 1;
    }

    /** Whether no more than one instance has a caller that came before the next of this one, as far as is known. */
    boolean isTurnNear(String name) {
        AwaitedSemaphore semaphore = byName.get(name);
        return semaphore != null && semaphore.instancesAhead() <= 1;
    }

    /**
     * Adds a new acquire to the wait queues without asking the database, if recent answers imply that it would be refused.
     *
     * @return whether it was added
     */
    boolean join(Acquire acquire) {
        List<AwaitedSemaphore> all = new ArrayList<>();
        boolean isShort = false;
        for (String name : acquire.mayJoinUnasked() ? acquire.names() : Set.<String>of()) {
            AwaitedSemaphore semaphore = byName.get(name);
            if (semaphore == null || !semaphore.isKnownFor(acquire)) {
                return false;
            }
            isShort |= semaphore.isShortFor(acquire);
            all.add(semaphore);
        }
        if (isShort) {
            acquire.setSince(arrivals.arrivalOf(acquire));
            all.forEach(semaphore -> semaphore.join(acquire));
        }
        return isShort;
    }

    /** Removes an acquire from all wait queues. */
    void remove(Acquire acquire) {
        acquire.shortOf().keySet().forEach(name -> {
            AwaitedSemaphore semaphore = byName.get(name);
            if (semaphore != null
                    && semaphore.waiting().remove(acquire)
                    && semaphore.waiting().isEmpty()) {
                byName.remove(name);
            }
        });
        acquire.shortOf().clear();
    }

    /** The number of permits that earlier callers of this JVM wait for, for each name of the acquire. */
    Map<String, Demand> demandAhead(Acquire acquire) {
        Map<String, Demand> demand = new HashMap<>();
        acquire.names()
                .forEach(name -> find(name)
                        .ifPresent(semaphore ->
                                demand.put(name, semaphore.waiting().demandAhead(acquire))));
        return demand;
    }

    /** Adjusts the number of available permits. */
    void adjustAvailable(String name, long permits) {
        find(name).ifPresent(semaphore -> semaphore.adjustAvailable(permits));
    }

    private Optional<AwaitedSemaphore> find(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    /**
     * Records the availability after a batch.
     *
     * @param changed the change of availability since the batch read it
     * @param asOf this JVM's monotonic clock before the batch read it
     */
    void recordBatch(String name, RemainingAvailability remaining, long changed, long asOf) {
        find(name).ifPresent(semaphore -> semaphore.recordBatch(remaining, changed, asOf));
    }

    /** Records the numbers with which a caller was refused; they are newer than those of the waiting callers. */
    void recordRefusal(List<PermitShortage> shortages) {
        shortages.forEach(shortage -> find(shortage.name()).ifPresent(semaphore -> semaphore.recordRefusal(shortage)));
    }

    /** The shortages that a waiting acquire meets, by the latest numbers; empty when those were read before its submission. */
    List<PermitShortage> shortages(Acquire acquire) {
        List<PermitShortage> shortages = new ArrayList<>();
        for (String name : acquire.shortOf().keySet()) {
            AwaitedSemaphore semaphore = byName.get(name);
            if (semaphore == null || !semaphore.isAnsweredFor(acquire)) {
                return List.of();
            }
            PermitShortage shortage = semaphore.shortageOf(acquire);
            if (shortage.held() + shortage.withheld() + shortage.requested() > shortage.capacity()) {
                shortages.add(shortage);
            }
        }
        return shortages;
    }

    /** Records what the poller has read, unless availability has changed since. */
    void recordPoll(String name, PolledAvailability polled, long asOf) {
        find(name).ifPresent(semaphore -> semaphore.recordPoll(polled, asOf));
    }

    /** The first caller that waits for this semaphore, and for which permits are withheld; null if there is none. */
    @Nullable Acquire first(String name) {
        AwaitedSemaphore semaphore = byName.get(name);
        return semaphore == null ? null : semaphore.firstWithClaim();
    }

    /**
     * Lets the first waiter be tried although too few permits of this semaphore are available, unless its other semaphores have
     * too few: its acquire may reclaim expired permits.
     */
    void wakeFirst(String name) {
        find(name).ifPresent(AwaitedSemaphore::raiseAvailableForFirst);
    }

    /**
     * Removes the waiters of these semaphores for which enough permits are available.
     *
     * @param taken receives the permits that are reserved for them
     */
    List<Acquire> wake(Collection<String> names, ObjLongConsumer<String> taken) {
        return new WaiterSelector(byName, taken, this::remove).select(names);
    }

    Collection<Acquire> clear() {
        Set<Acquire> all = new LinkedHashSet<>();
        byName.values().forEach(semaphore -> semaphore.waiting().forEach(all::add));
        byName.clear();
        all.forEach(acquire -> acquire.shortOf().clear());
        return all;
    }
}
