package io.dbsemaphore.engine.quota;

import io.dbsemaphore.domain.ReuseTerms;
import io.dbsemaphore.engine.hold.GrantHandle;
import io.dbsemaphore.engine.hold.HeldGrant;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * This JVM's quota of one semaphore: chunks, used or idle. R is the reuse time.
 *
 * <p>A use of a {@link Chunk} begins only within R after its acquire, or a {@linkplain Chunk#confirm confirmation}, has asked the database
 * whether its grant is held. A chunk is returned to the database after 8 R without use, {@linkplain #keepLonger one of them} later; if
 * others want permits, all chunks are returned at once. A thread looks first for the idle chunk that it left itself, so that rarely used
 * chunks go back.
 */
public final class Quota {

    /** The number of tokens that are reserved for the first grant. For later grants it depends on how many were used. */
    private static final int FIRST_TOKENS = 1 << 12;

    /**
     * The number of tokens is multiplied by this after a grant that has used all of its tokens. With a smaller factor many semaphores would
     * need new grants for minutes.
     */
    private static final int MORE_TOKENS = 16;

    private static final int MIN_TOKENS = 1 << 6;
    private static final int MAX_TOKENS = 1 << 20;

    /** How long after its grant a chunk may begin a use. Its keep-alive lasts for this time plus the maximum hold of one use. */
    private static final Duration LIFE = Duration.ofHours(1);

    private static final long FORGET_AFTER = Duration.ofSeconds(10).toNanos();

    /** The database is asked about a chunk after R divided by this. */
    private static final int CONFIRM_PARTS = 3;

    /**
     * A chunk that nobody else wants goes back after this many R unused. The more semaphores there are, the less often each is used, most
     * rarely at first, when every use needs a transaction: see decision 0061.
     */
    private static final int UNUSED = 8;

    /** The same for the chunk that stays longer; it goes back after at most {@link #MAX_LONG_UNUSED}. */
    private static final int LONG_UNUSED = 100;

    private static final Duration MAX_LONG_UNUSED = Duration.ofSeconds(30);

    /** A use longer than this many R is no longer confirmed: its chunk goes back when the use ends. */
    private static final int LONG_USE = 10;

    private static final Duration MIN_MARK = Duration.ofMillis(100);

    /**
     * A part of a quota: the permits of one acquire and a range of fencing tokens, for one use after the other. Belongs to one thread at
     * a time: its user, or the thread that has taken it out of the idle chunks.
     */
    public static final class Chunk {

        private final Quota quota;
        private final HeldGrant state;
        private final ReuseTerms terms;
        private final int tokens;
        private final long grantedAt;
        private final long life;
        private volatile long confirmedAt;
        private volatile int uses;
        private volatile long usedAt;
        private volatile @Nullable GrantHandle user;

        /**
         * Creates a chunk for its first use.
         *
         * @param tokens the number of tokens that were reserved for it
         * @param grantedAt this JVM's monotonic clock before the database was asked
         */
        public Chunk(Quota quota, HeldGrant state, ReuseTerms terms, int tokens, long grantedAt) {
            this.quota = quota;
            this.state = state;
            this.terms = terms;
            this.tokens = tokens;
            this.grantedAt = grantedAt;
            this.life = quota.lifeOf(terms).toNanos();
            this.confirmedAt = grantedAt;
            this.usedAt = grantedAt;
            quota.chunks.add(this);
        }

        /** Whether another use may begin, if the database confirms in time that the grant is held. */
        boolean isConfirmable(long nowNanos) {
            return uses < tokens && nowNanos - grantedAt < life && state.isHeld();
        }

        /** The time since the database was last asked whether the grant is held. */
        long unconfirmedFor(long nowNanos) {
            return nowNanos - confirmedAt;
        }

        /**
         * Records that the database has confirmed that the grant is held.
         *
         * @param asOf this JVM's monotonic clock before the database was asked
         */
        public void confirm(long asOf) {
            confirmedAt = asOf;
        }

        @SuppressWarnings({"NonAtomicOperationOnVolatileField", "NonAtomicVolatileUpdate"}) // belongs to one thread
        void beginUse(GrantHandle handle, long nowNanos) {
            usedAt = nowNanos;
            uses++;
            user = handle;
        }

        void endUse() {
            user = null;
            usedAt = System.nanoTime();
        }

        /** The time since the last use ended, or since the current one began. */
        long unusedFor(long nowNanos) {
            return nowNanos - usedAt;
        }

        /** The number of uses that have begun, also the index of the next one. */
        int uses() {
            return uses;
        }

        /** The handle of the current use; null when the chunk is idle. */
        public @Nullable GrantHandle user() {
            return user;
        }

        /** When it was granted, by this JVM's monotonic clock. */
        long grantedAt() {
            return grantedAt;
        }

        public Quota quota() {
            return quota;
        }

        public HeldGrant state() {
            return state;
        }

        /** The external id of the request that acquired it. */
        String externalId() {
            return state.grant().externalId();
        }

        public ReuseTerms terms() {
            return terms;
        }
    }

    private final Duration reuse;
    private final long reuseNanos;
    private final long longUnusedNanos;
    private final boolean fair;
    private final Slots<Chunk> idle = new Slots<>();
    private final Set<Chunk> chunks = ConcurrentHashMap.newKeySet();

    private CompletableFuture<?> returns = CompletableFuture.completedFuture(null);
    private volatile long returnedAt = System.nanoTime();
    private volatile long changedAt = returnedAt;
    private volatile int tokens = FIRST_TOKENS;
    private volatile boolean awaitedElsewhere;
    private volatile boolean exceeded;
    private volatile long wantedUntil;
    private volatile boolean refusedHere;
    private volatile long markedUntil = changedAt;
    private volatile @Nullable Chunk lasting;
    private volatile boolean keepsLonger;
    private volatile boolean hadChunks;
    private volatile long wantedAt;

    /**
     * Creates a quota without chunks.
     *
     * @param fair whether the instances tell one another who waits for the semaphore
     */
    public Quota(Duration reuse, boolean fair) {
        this.reuse = reuse;
        this.reuseNanos = reuse.toNanos();
        this.longUnusedNanos =
                Math.max(UNUSED * reuseNanos, Math.min(LONG_UNUSED * reuseNanos, MAX_LONG_UNUSED.toNanos()));
        this.fair = fair;
        this.wantedUntil = changedAt - reuseNanos;
        this.wantedAt = changedAt - longUnusedNanos;
    }

    /**
     * How long after its grant a chunk may begin a use, however often it is confirmed. Without fairness no instance knows of callers that
     * wait elsewhere, and a busy instance would keep the chunk for ever.
     */
    public Duration lifeOf(ReuseTerms terms) {
        return !fair ? reuse : terms.maxHold().compareTo(LIFE) < 0 ? terms.maxHold() : LIFE;
    }

    /** Whether the next use of a chunk may begin now. */
    public boolean isReusable(Chunk chunk, long nowNanos) {
        return !exceeded && chunk.unconfirmedFor(nowNanos) < reuseNanos && chunk.isConfirmable(nowNanos);
    }

    /** Adds a chunk to the idle ones. Returns false if others want it. */
    public boolean offer(Chunk chunk, long nowNanos) {
        if (isWantedElsewhere(nowNanos)) {
            return false;
        }
        if (lasting == null) {
            lasting = chunk; // before another thread can take it
        }
        idle.add(chunk);
        return true;
    }

    /** Removes an idle chunk for a use; null if none can be used. */
    public @Nullable Chunk poll(ReuseTerms terms, long nowNanos) {
        return isWantedElsewhere(nowNanos)
                ? null
                : idle.poll(chunk -> chunk.terms().equals(terms) && isReusable(chunk, nowNanos));
    }

    /** Whether any chunk is not in use: idle, or passing from one use to the next. */
    public boolean hasUnused() {
        return chunks.stream().anyMatch(chunk -> chunk.user() == null);
    }

    public boolean hasIdle(Predicate<Chunk> filter) {
        return idle.stream().anyMatch(filter);
    }

    /** Removes the idle chunks that match. */
    public List<Chunk> pollAll(Predicate<Chunk> filter) {
        return Stream.generate(() -> idle.poll(filter))
                .takeWhile(Objects::nonNull)
                .toList();
    }

    /**
     * Records that idle chunks are going back. To be called before they are removed, so that a thread that finds none sees that they are
     * being returned.
     */
    public synchronized void addReturn(CompletableFuture<?> returned) {
        returns = CompletableFuture.allOf(
                returns, returned.whenComplete((none, failure) -> returnedAt = System.nanoTime()));
    }

    /** Returns a future that completes when all chunks that are currently being returned have been returned. */
    public synchronized CompletableFuture<?> returns() {
        return returns;
    }

    /** Whether idle chunks are going back, or have gone back since then, so that the database may have counted them as held. */
    public boolean hasReturnsSince(long nanos) {
        return !returns().isDone() || returnedAt - nanos > 0;
    }

    /** Records that a chunk goes back, and adapts the number of tokens to its uses. */
    public synchronized void gone(Chunk chunk) {
        if (chunk.uses >= chunk.tokens) {
            tokens = Math.min(MAX_TOKENS, tokens * MORE_TOKENS);
        } else if (chunk.uses() <= tokens / 4) {
            tokens = Math.max(MIN_TOKENS, tokens / 2);
        }
        chunks.remove(chunk);
        if (lasting == chunk) {
            lasting = null;
        }
        hadChunks = true;
        changedAt = System.nanoTime();
    }

    /** The number of tokens to reserve for the next grant. */
    public int tokens() {
        return tokens;
    }

    /** Whether an idle chunk has to go back now. */
    public boolean isDue(Chunk chunk, long nowNanos) {
        return isWantedElsewhere(nowNanos)
                || chunk.unusedFor(nowNanos) >= keptUnused(chunk)
                || chunk.unconfirmedFor(nowNanos) >= reuseNanos
                || !chunk.isConfirmable(nowNanos);
    }

    /** Whether the database may be asked about the chunk, together with others. */
    public boolean isConfirmable(Chunk chunk, long nowNanos) {
        return fair
                && chunk.isConfirmable(nowNanos)
                && chunk.unusedFor(nowNanos) < (chunk.user() == null ? keptUnused(chunk) : LONG_USE * reuseNanos);
    }

    private long keptUnused(Chunk chunk) {
        return keepsLonger && lasting == chunk ? longUnusedNanos : UNUSED * reuseNanos;
    }

    /** Whether the database has to be asked about the chunk now. */
    public boolean isToBeConfirmed(Chunk chunk, long nowNanos) {
        return chunk.unconfirmedFor(nowNanos) >= reuseNanos / CONFIRM_PARTS;
    }

    /**
     * Records the result of a transaction.
     *
     * @param awaited whether callers of other instances wait
     * @param over whether a lowered capacity is exceeded
     */
    public void observe(boolean awaited, boolean over) {
        awaitedElsewhere = awaited;
        exceeded = over;
        if (awaited || over) {
            wanted(System.nanoTime());
        }
    }

    /**
     * Records that callers of other instances were refused. For the next R, no chunk is kept idle. For the R after that, chunks are kept
     * even if more callers are refused: instances that together want more than the capacity must not end each other's reuse.
     */
    public void refusedElsewhere(long nowNanos) {
        wanted(nowNanos);
        if (nowNanos - wantedUntil >= reuseNanos) {
            wantedUntil = nowNanos + reuseNanos;
        }
    }

    private void wanted(long nowNanos) {
        keepsLonger = false;
        wantedAt = nowNanos;
    }

    /** Whether this JVM wants a chunk again after all have gone back, so soon that this quota was not forgotten. */
    public boolean isWantedAgain() {
        return hadChunks && chunks.isEmpty();
    }

    /** Keeps one chunk longer without use from now on, unless others wanted permits lately. */
    public void keepLonger(long nowNanos) {
        if (nowNanos - wantedAt >= longUnusedNanos) {
            keepsLonger = true;
        }
    }

    private boolean isWantedElsewhere(long nowNanos) {
        return awaitedElsewhere || exceeded || wantedUntil - nowNanos > 0;
    }

    /** Records that a caller of this instance was refused, or waits for a semaphore without fairness. */
    public void refusedHere() {
        refusedHere = true;
    }

    /** The validity of a new mark, which says that callers of this instance were refused; null if none has to be made now. */
    public @Nullable Duration mark(long nowNanos) {
        if (!refusedHere || markedUntil - nowNanos > 0) {
            return null;
        }
        Duration validFor = reuse.compareTo(MIN_MARK) < 0 ? MIN_MARK : reuse;
        refusedHere = false;
        markedUntil = nowNanos + validFor.toNanos();
        return validFor;
    }

    /** Whether there has been no chunk for a long time, so that the quota can be forgotten. */
    public synchronized boolean isForgotten(long nowNanos) {
        return chunks.isEmpty() && !refusedHere && returns.isDone() && nowNanos - changedAt > FORGET_AFTER;
    }
}
