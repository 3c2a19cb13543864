package io.dbsemaphore.engine.quota;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.RequestAlreadyReleasedException;
import io.dbsemaphore.RequestInProgressException;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.SemaphoreException;
import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.concurrent.UnexpectedErrors;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.HandoverOutcome;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.domain.ReuseTerms;
import io.dbsemaphore.engine.batch.Acquire;
import io.dbsemaphore.engine.batch.GroupCommit;
import io.dbsemaphore.engine.hold.GrantHandle;
import io.dbsemaphore.engine.hold.HeldGrant;
import io.dbsemaphore.engine.hold.InstanceLease;
import io.dbsemaphore.engine.hold.KeepAlive;
import io.dbsemaphore.engine.quota.Quota.Chunk;
import io.dbsemaphore.persistence.AvailabilityTransactions;
import io.dbsemaphore.persistence.AvailabilityTransactions.Confirmation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Permits that the callers of this JVM use one after the other without a transaction. In the database, all permits of a quota are held,
 * whether they are in use or idle.
 *
 * <p>A {@link Quota} grows when a caller finds no idle {@link Chunk} and acquires one from the database. After a use, the chunk goes to the
 * first caller that waits in this JVM, and becomes idle if none does. Invariant: no chunk is idle while a caller waits. Each side publishes
 * its own change first and then checks the other: a caller begins to wait, then looks for idle chunks ({@link #serveWaiting}); a thread
 * makes a chunk idle, then looks for waiting callers.
 *
 * <p>While there are quotas, {@link #check} runs four times in the reuse time R. It returns to the database the unused chunks and those
 * that others want. About twice in R, it asks the database in one transaction whether the used chunks are still held, whether the capacity
 * was lowered, and whether callers elsewhere wait or were refused. No use begins later than R after that question. When a caller is
 * refused, a row tells the other instances.
 *
 * <p>No caller is refused because of idle chunks of its own JVM. If the database refuses an acquire while chunks are unused or being
 * returned, the chunks that the acquire cannot use are returned, and the acquire is retried.
 *
 * <p>This is escrow (O'Neil, <a href="https://doi.org/10.1145/7239.7265">The Escrow Transactional Method</a>, 1986) with leases: a JVM
 * decides by itself about the permits that were set aside for it, for a limited time.
 *
 * <p>{@code ReuseIntegrationTests} and {@code QuotaIntegrationTests} test it.
 */
public final class Quotas {

    private static final Logger log = LoggerFactory.getLogger(Quotas.class);

    private static final int CHECKS_IN_REUSE_TIME = 4;

    /** The maximum number of semaphores with a chunk that stays longer without use: the database is asked about each, about twice in R. */
    private static final int MOST_KEPT_LONGER = 2_000;

    private final Collaborators with;
    private final long checkNanos;
    private final boolean disabled;
    private final ConcurrentMap<String, Quota> quotas = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, Chunk> byExternalId = new ConcurrentHashMap<>();
    private final CompletableFuture<Object> closed = new CompletableFuture<>();
    private final AtomicBoolean checking = new AtomicBoolean();
    private final AtomicBoolean confirming = new AtomicBoolean();

    /**
     * The collaborators of the quotas.
     *
     * @param operations the operations to which handles delegate
     * @param scheduler begins the checks
     * @param database runs transactions
     */
    public record Collaborators(
            SemaphoreSettings settings,
            AvailabilityTransactions availability,
            GroupCommit commit,
            KeepAlive keepAlive,
            InstanceLease lease,
            Returns returns,
            GrantHandle.Operations operations,
            ScheduledExecutorService scheduler,
            Executor database) {}

    /** Takes back chunks, and reports the ends of uses. */
    public interface Returns {

        /** Releases the grant of a chunk with its last use. */
        ReleaseOutcome release(GrantHandle lastUse);

        /** Begins to release the grant of a chunk that nobody uses. */
        CompletableFuture<?> giveBackUnused(HeldGrant state);

        /** Tells listeners that a use has ended, although its chunk is kept. */
        void kept(ReusedGrant use, Duration heldFor);
    }

    /** Creates an instance without quotas. */
    public Quotas(Collaborators with) {
        this.with = with;
        Optional<Duration> shortest = with.settings().get(SemaphoreSettings.REUSE).values().stream()
                .filter(reuse -> !reuse.isZero())
                .min(Duration::compareTo);
        this.disabled = shortest.isEmpty();
        this.checkNanos = shortest.orElse(Duration.ZERO).toNanos() / CHECKS_IN_REUSE_TIME;
    }

    /** Whether no semaphore has a quota. */
    public boolean areDisabled() {
        return disabled;
    }

    /**
     * Begins a use of an idle chunk.
     *
     * @param terms the terms of the request; null if no chunk suits it
     * @return null if there is no idle chunk for this request, which then needs a transaction
     */
    public @Nullable ReusedGrant take(@Nullable ReuseTerms terms) {
        Quota quota = terms == null ? null : quotas.get(terms.name());
        if (terms == null || quota == null || with.commit().isAwaited(terms.name())) {
            return null;
        }
        Chunk chunk = quota.poll(terms, System.nanoTime());
        if (chunk == null) {
            return null;
        }
        chunk.state()
                .setForWork(true); // before the check for the end: a shutdown either waits for the work or prevents it
        if (closed.isDone()) {
            passOnOrGiveBack(quota, () -> List.of(chunk));
            return null;
        }
        return beginNextUse(chunk);
    }

    /** Begins a use of a chunk; null if its grant was lost just now. */
    private @Nullable ReusedGrant beginNextUse(Chunk chunk) {
        ReusedGrant grant = new ReusedGrant(chunk, with.operations());
        if (!grant.isHeld()) { // the loss may have been found, and not reported, before there was a use
            grant.end();
            var unused = giveBack(chunk);
            return null;
        }
        return grant;
    }

    /**
     * Prepares an acquire that needs a transaction: its grant may become a chunk.
     *
     * @param terms the terms of its request; null if no chunk suits it
     * @throws SemaphoreException if the request has the external id of a use
     */
    public void prepare(Acquire acquire, @Nullable ReuseTerms terms) {
        if (disabled) {
            return;
        }
        acquire.call().request().externalId().filter(this::isKnown).ifPresent(this::refuseRepeated);
        if (terms != null && !reuseOf(terms.name()).isZero()) {
            acquire.reuse(terms, known(terms.name()).tokens());
        }
    }

    /** Takes out the idle chunks that a caller with these terms cannot use. Returns whether there were any. */
    private boolean clearOthers(Quota quota, @Nullable ReuseTerms terms) {
        long now = System.nanoTime();
        return clear(
                quota,
                chunk -> !chunk.terms().equals(terms) || quota.isDue(chunk, now) || !quota.isReusable(chunk, now));
    }

    /** Begins a use of a chunk that a waiting acquire was handed; null if it is too late, for example because the JVM was suspended. */
    public @Nullable ReusedGrant takeHandedOver(GrantOutcome.HandedOver handedOver) {
        Chunk chunk = byExternalId.get(handedOver.externalId());
        if (chunk != null && isReusable(chunk)) {
            return beginNextUse(chunk);
        }
        if (chunk != null) {
            passOnOrGiveBack(chunk.quota(), () -> List.of(chunk));
        }
        return null;
    }

    /**
     * Prepares another attempt of an acquire that was refused although chunks of this JVM were unused or going back.
     *
     * @param asOf this JVM's monotonic clock before the database was asked
     * @return completed when it has to be tried again; null if it must not be
     */
    public @Nullable CompletableFuture<?> retryAfter(Acquire acquire, List<PermitShortage> shortages, long asOf) {
        List<CompletableFuture<?>> returns = new ArrayList<>();
        for (PermitShortage shortage : shortages) {
            Quota quota = quotas.get(shortage.name());
            if (shortage.displaced()) {
                return null; // the permits are for newer callers
            }
            if (quota != null
                    && (clearOthers(quota, acquire.reuseTerms())
                            || quota.hasReturnsSince(asOf)
                            || (quota.hasUnused() && !with.commit().isAwaited(shortage.name())))) {
                returns.add(quota.returns());
            }
        }
        if (returns.isEmpty()) {
            return null;
        }
        return CompletableFuture.anyOf(allOf(returns.stream()), closed);
    }

    /** Tells the other instances that the database has refused an acquire. */
    public void refused(List<PermitShortage> shortages) {
        shortages.stream()
                .map(PermitShortage::name)
                .filter(name -> !reuseOf(name).isZero())
                .forEach(name -> known(name).refusedHere());
    }

    /** Adds a chunk that was just granted. */
    public Chunk granted(ReuseTerms terms, Acquire acquire, HeldGrant state, long asOf) {
        Chunk[] added = new Chunk[1];
        quotas.compute(
                terms.name(), (name, known) -> { // atomic: the quota must not be forgotten before it has the chunk
                    Quota quota = known == null ? newQuota(name) : known;
                    if (quota.isWantedAgain()) {
                        keepLonger(quota);
                    }
                    added[0] = new Chunk(quota, state, terms, acquire.tokens(), asOf);
                    return quota;
                });
        byExternalId.put(state.grant().externalId(), added[0]);
        beginChecks();
        return added[0];
    }

    /** Ends a use. The chunk goes to the next caller, or back to the database. */
    public ReleaseOutcome release(ReusedGrant grant) {
        Duration heldFor = grant.heldFor();
        ReusedGrant.State before = grant.end();
        if (before == ReusedGrant.State.ENDED) {
            return ReleaseOutcome.ALREADY_RELEASED;
        }
        if (before == ReusedGrant.State.HELD && keep(grant.chunk())) {
            with.returns().kept(grant, heldFor);
            return ReleaseOutcome.RELEASED;
        }
        CompletableFuture<Object> returned = new CompletableFuture<>();
        // not of a checked use, whose release may wait for the transaction that checked it
        if (before == ReusedGrant.State.HELD) {
            grant.chunk().quota().addReturn(returned);
        }
        try {
            grant.endWithGrant();
            remove(grant.chunk());
            return with.returns().release(grant);
        } finally {
            returned.complete(true);
        }
    }

    /** The handle of a grant, or of the current use of a chunk; null if nobody uses the chunk. */
    public @Nullable GrantHandle user(HeldGrant state) {
        Chunk chunk = byExternalId.get(state.grant().externalId());
        return chunk == null ? new GrantHandle(state, true, with.operations()) : chunk.user();
    }

    /** Hands a chunk to the next caller, or makes it idle. Returns false if it must go back to the database. */
    private boolean keep(Chunk chunk) {
        boolean passedOn = passOn(chunk);
        if (passedOn) {
            serveWaiting(chunk.terms().name(), chunk.quota());
        }
        return passedOn;
    }

    private boolean passOn(Chunk chunk) {
        if (!isReusable(chunk)) {
            return false;
        }
        HandoverOutcome outcome = HandoverOutcome.NOBODY_WAITS;
        if (with.commit().isAwaited(chunk.terms().name())) {
            chunk.state().setForWork(true);
            outcome = with.commit().handOver(chunk.terms(), new GrantOutcome.HandedOver(chunk.externalId()));
        }
        if (outcome == HandoverOutcome.NOBODY_WAITS) {
            chunk.state().setForWork(false);
            return chunk.quota().offer(chunk, System.nanoTime());
        }
        return outcome == HandoverOutcome.DONE;
    }

    /**
     * Hands idle chunks to callers that have begun to wait, or gives the chunks back if that is not possible. Without fairness, other
     * instances are {@linkplain #mark told} of these callers.
     */
    public void serveWaiting(Set<String> names) {
        names.forEach(name -> {
            Quota quota = reuseOf(name).isZero() || isFair(name) ? quotas.get(name) : known(name);
            if (quota != null) {
                serveWaiting(name, quota);
            }
        });
    }

    private void serveWaiting(String name, Quota quota) {
        boolean any = true;
        while (any && (closed.isDone() || with.commit().isAwaited(name))) {
            any = clear(quota, chunk -> true);
        }
    }

    /** Takes out the idle chunks that match, for waiting callers, or to be given back. Returns whether there were any. */
    private boolean clear(Quota quota, Predicate<Chunk> filter) {
        boolean any = quota.hasIdle(filter);
        if (any) {
            passOnOrGiveBack(quota, () -> quota.pollAll(filter));
        }
        return any;
    }

    private void passOnOrGiveBack(Quota quota, Supplier<List<Chunk>> idle) {
        CompletableFuture<Object> returned = new CompletableFuture<>();
        quota.addReturn(returned);
        List<Chunk> taken = idle.get();
        var unused = allOf(taken.stream()
                        .filter(chunk -> !with.commit().isAwaited(chunk.terms().name()) || !passOn(chunk))
                        .map(this::giveBack))
                .whenComplete((none, failure) -> returned.complete(true));
        taken.stream()
                .findFirst()
                .ifPresent(chunk -> serveWaiting(chunk.terms().name(), quota)); // a chunk may be idle again
    }

    private CompletableFuture<?> giveBack(Chunk chunk) {
        remove(chunk);
        return with.returns().giveBackUnused(chunk.state());
    }

    private static CompletableFuture<Void> allOf(Stream<CompletableFuture<?>> futures) {
        return CompletableFuture.allOf(futures.toArray(CompletableFuture<?>[]::new));
    }

    private void remove(Chunk chunk) {
        if (byExternalId.remove(chunk.externalId(), chunk)) {
            chunk.quota().gone(chunk);
        }
    }

    private boolean isReusable(Chunk chunk) {
        return !closed.isDone()
                && byExternalId.get(chunk.externalId()) == chunk
                && chunk.quota().isReusable(chunk, System.nanoTime());
    }

    /** Records the availability that a batch has read. */
    public void observe(Map<String, RemainingAvailability> availability) {
        availability.forEach((name, remaining) -> {
            Quota quota = quotas.get(name);
            if (quota != null) {
                quota.observe(remaining.isAwaitedElsewhere(), remaining.held() > remaining.capacity());
                if (remaining.available() > 0) { // so an idle chunk delays nobody
                    keepLonger(quota);
                }
            }
        });
    }

    private void keepLonger(Quota quota) {
        if (quotas.size() <= MOST_KEPT_LONGER) {
            quota.keepLonger(System.nanoTime());
        }
    }

    private void beginChecks() {
        if (!closed.isDone() && checking.compareAndSet(false, true)) {
            var unused = with.scheduler().schedule(this::check, checkNanos, TimeUnit.NANOSECONDS);
        }
    }

    private void check() {
        try {
            clearDue();
            mark();
            confirm();
            long now = System.nanoTime();
            byExternalId.values().stream()
                    .filter(chunk -> chunk.state().deadline().isPassed()) // its user has dropped it
                    .forEach(this::remove);
            quotas.keySet()
                    .forEach(each -> quotas.computeIfPresent(
                            each,
                            (name, quota) ->
                                    quota.isForgotten(now) && !with.commit().isAwaited(name) ? null : quota));
        } catch (Throwable failure) {
            UnexpectedErrors.survive(log, "The check of permits that are reused", failure);
        }
        checking.set(false);
        if (!quotas.isEmpty()) {
            beginChecks();
        }
    }

    private void clearDue() {
        long now = System.nanoTime();
        quotas.forEach(
                (name, quota) -> clear(quota, chunk -> with.commit().isAwaited(name) || quota.isDue(chunk, now)));
    }

    /**
     * Asks the database about all used chunks, if one of them is due. Runs on the thread of the keep-alive, whose connection is kept while
     * there are chunks.
     */
    private void confirm() {
        long now = System.nanoTime();
        List<Chunk> chunks = byExternalId.values().stream()
                .filter(chunk -> chunk.quota().isConfirmable(chunk, now))
                .toList();
        if (chunks.stream().anyMatch(chunk -> chunk.quota().isToBeConfirmed(chunk, now))
                && confirming.compareAndSet(false, true)) {
            with.keepAlive().execute("confirmation", () -> {
                try {
                    confirm(chunks);
                } finally {
                    confirming.set(false);
                }
            });
        }
    }

    /** Tells the other instances for which semaphores callers were refused here, or wait without fairness. */
    private void mark() {
        long now = System.nanoTime();
        Map<String, Duration> marks = new HashMap<>();
        quotas.forEach((name, quota) -> {
            if (with.commit().isAwaited(name) && !isFair(name)) {
                quota.refusedHere();
            }
            Duration validFor = quota.mark(now);
            if (validFor != null) {
                marks.put(name, validFor);
            }
        });
        if (!marks.isEmpty()) {
            with.database().execute(() -> {
                try {
                    with.availability()
                            .mark(marks, with.lease().id(), with.settings().get(SemaphoreSettings.OWNER));
                } catch (RuntimeException failure) {
                    log.debug("Other instances were not told that callers of this one were refused", failure);
                }
            });
        }
    }

    private void confirm(List<Chunk> chunks) {
        Set<Long> requests = new HashSet<>();
        Map<String, Quota> asked = new HashMap<>();
        chunks.forEach(chunk -> {
            requests.add(chunk.state().grant().requestId());
            asked.put(chunk.terms().name(), chunk.quota());
        });
        long asOf = System.nanoTime();
        Confirmation confirmation = with.availability()
                .confirm(requests, asked.keySet(), with.lease().id());
        asked.forEach((name, quota) -> {
            quota.observe(
                    confirmation.awaited().contains(name),
                    confirmation.exceeded().contains(name));
            if (confirmation.refused().contains(name)) {
                quota.refusedElsewhere(System.nanoTime());
            }
        });
        chunks.stream()
                .filter(chunk ->
                        confirmation.held().contains(chunk.state().grant().requestId()))
                .forEach(chunk -> chunk.confirm(asOf));
        clearDue();
        if (!confirmation.awaited().isEmpty()) {
            with.commit().pollNow(); // to learn whose turn it is when permits are released here
        }
    }

    private Duration reuseOf(String name) {
        return with.settings().get(SemaphoreSettings.REUSE).of(name);
    }

    private Quota known(String name) {
        Quota quota = quotas.computeIfAbsent(name, this::newQuota);
        beginChecks(); // which also forget an unused quota
        return quota;
    }

    private Quota newQuota(String name) {
        return new Quota(reuseOf(name), isFair(name));
    }

    private boolean isFair(String name) {
        return with.settings().get(SemaphoreSettings.FAIR).of(name);
    }

    /** Whether this external id is, or was, that of a use of this JVM, or of the request of a chunk. */
    public boolean isKnown(String externalId) {
        return find(externalId) != null;
    }

    private @Nullable Chunk find(String externalId) {
        Chunk ofRequest = byExternalId.get(externalId);
        return ofRequest != null ? ofRequest : byExternalId.get(ReusedGrant.requestOf(externalId));
    }

    private void refuseRepeated(String externalId) {
        throw findUse(externalId)
                .filter(GrantHandle::isHeld)
                .<SemaphoreException>map(use -> new RequestInProgressException(externalId, use.owner()))
                .orElseGet(() -> new RequestAlreadyReleasedException(externalId));
    }

    /** The use with this external id; empty if it has ended, or belongs to another JVM. */
    public Optional<GrantHandle> findUse(String externalId) {
        return Optional.ofNullable(find(externalId))
                .map(Chunk::user)
                .filter(use -> use.externalId().equals(externalId));
    }

    /** Begins to give all idle chunks back. From then on no use begins, and no acquire waits for chunks that go back. */
    public void close() {
        closed.completeExceptionally(new SemaphoreClosedException());
        quotas.forEach(this::serveWaiting);
    }

    /** Waits until the chunks that are going back have done so. Returns false if the deadline passes first. */
    public boolean awaitReturns(Deadline deadline) throws InterruptedException {
        try {
            allOf(quotas.values().stream().map(Quota::returns)).get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException | ExecutionException late) {
            return false;
        }
    }
}
