package io.dbsemaphore.engine.hold;

import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.domain.StoredGrant;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The grants that this JVM holds, by external id. A grant is removed when it is released or lost, or when neither a handle of the
 * application nor the {@link KeepAlive} refers to it. The keep-alive of a run refers to all grants with a time to live that were acquired
 * in that run, until they expire. Repeating the acquire of an expired grant revives the grant and its first handle, unless somebody has
 * reclaimed it. A grant without a time to live may be released by another JVM.
 */
public final class GrantRegistry {

    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** The stacks of working threads are read once in this many polls. */
    private static final int POLLS_OF_STACKS = 20;

    private final ConcurrentMap<String, Held> byExternalId = new ConcurrentHashMap<>();
    private final ReferenceQueue<HeldGrant> dropped = new ReferenceQueue<>();
    private final AtomicInteger releasesInProgress = new AtomicInteger();

    private static final class Held extends WeakReference<HeldGrant> {

        private final String externalId;

        Held(HeldGrant state, ReferenceQueue<HeldGrant> dropped) {
            super(state, dropped);
            externalId = state.grant().externalId();
        }
    }

    /** Registers a grant that this JVM acquired. Returns its state, which for a repeated acquire is the existing one. */
    public HeldGrant register(StoredGrant grant, long asOfNanos) {
        for (Reference<?> held = dropped.poll(); held != null; held = dropped.poll()) {
            byExternalId.remove(((Held) held).externalId, held);
        }
        HeldGrant[] state = {new HeldGrant(grant, asOfNanos)};
        byExternalId.compute(grant.externalId(), (externalId, held) -> {
            HeldGrant known = held == null ? null : held.get();
            if (known == null || known.grant().requestId() != grant.requestId()) {
                return new Held(state[0], dropped);
            }
            known.update(grant, asOfNanos);
            known.repeated();
            state[0] = known;
            return held;
        });
        return state[0];
    }

    /**
     * The state of a grant that was read: the existing one if this JVM acquired it, otherwise a new one. A renewal by this JVM after the
     * database was asked stays in effect.
     */
    public HeldGrant read(StoredGrant grant, long asOfNanos) {
        Optional<HeldGrant> known = find(grant);
        known.ifPresent(own -> own.read(grant, asOfNanos));
        return known.orElseGet(() -> new HeldGrant(grant, asOfNanos));
    }

    /** The grants that this JVM acquired and has neither released nor lost. */
    public List<HeldGrant> all() {
        return states().toList();
    }

    private Stream<HeldGrant> states() {
        return byExternalId.values().stream().map(Held::get).flatMap(Stream::ofNullable);
    }

    /** Ends all handles of this grant. */
    public void end(HeldGrant state) {
        state.end();
        find(state.grant()).ifPresent(own -> {
            own.end();
            byExternalId.computeIfPresent(
                    own.grant().externalId(), (externalId, held) -> held.refersTo(own) ? null : held);
        });
    }

    /** Whether this is the state of a grant that this JVM acquired and has neither released nor lost. */
    public boolean holds(HeldGrant state) {
        return find(state.grant()).filter(own -> own == state).isPresent();
    }

    /** Counts a release that begins: {@link #awaitNoWork} waits for it although the grant no longer counts as held. */
    public void releaseBegins() {
        releasesInProgress.incrementAndGet();
    }

    public void releaseEnds() {
        releasesInProgress.decrementAndGet();
    }

    /**
     * Waits until no grant is held for work of this JVM and no release is in progress, at most until the deadline. To be called by the
     * thread that runs the shutdown. Does not wait for work that itself waits for the shutdown.
     *
     * @return the grants of such work
     */
    public Set<HeldGrant> awaitNoWork(Deadline deadline) throws InterruptedException {
        Set<HeldGrant> unawaited = workThatAwaitsShutdown();
        for (int poll = 1; !deadline.isPassed() && isWorkInProgress(unawaited); poll++) {
            TimeUnit.NANOSECONDS.sleep(Math.min(POLL_NANOS, deadline.remainingNanos()));
            if (poll % POLLS_OF_STACKS == 0) {
                unawaited = workThatAwaitsShutdown();
            }
        }
        return unawaited;
    }

    private Set<HeldGrant> workThatAwaitsShutdown() {
        return states().filter(HeldGrant::isWorkThatAwaitsShutdown).collect(Collectors.toSet());
    }

    /** Checks the grants first: a release is counted before its grant ends. */
    private boolean isWorkInProgress(Set<HeldGrant> unawaited) {
        return states().anyMatch(state -> state.isForWork() && state.isHeld() && !unawaited.contains(state))
                || releasesInProgress.get() > 0;
    }

    /** The grant that this JVM holds under this external id. */
    public Optional<HeldGrant> find(String externalId) {
        return Optional.ofNullable(byExternalId.get(externalId)).map(Held::get);
    }

    /** The state of this grant, if this JVM acquired it and has neither released nor lost it. */
    public Optional<HeldGrant> find(StoredGrant grant) {
        return find(grant.externalId()).filter(known -> known.grant().requestId() == grant.requestId());
    }
}
