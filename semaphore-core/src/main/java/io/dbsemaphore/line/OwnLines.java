package io.dbsemaphore.line;

import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.ToIntBiFunction;
import java.util.function.ToIntFunction;

/**
 * The waiting callers of this instance, and how it takes part in the order of all instances' callers.
 *
 * @param id the id of this instance, which changes if the process turns out to be a copy
 * @param owner the name of this instance
 * @param fair whether the permits of a semaphore are granted in that order
 * @param maxWaiting how many callers may wait for a semaphore; {@link LineLimit#UNLIMITED} if any number
 * @param maxPerShare how many of them may have the same share; {@link LineLimit#UNLIMITED} if any number
 * @param keepsNewest whether more callers than that displace the ones that came first
 * @param reused whether permits of a semaphore are reused
 * @param weights the weight of a share of a semaphore; must not block
 * @param waiting the waiting callers, by semaphore; semaphores that nobody waits for are missing
 */
public record OwnLines(
        LongSupplier id,
        String owner,
        Predicate<String> fair,
        ToIntFunction<String> maxWaiting,
        ToIntFunction<String> maxPerShare,
        Predicate<String> keepsNewest,
        Predicate<String> reused,
        ToIntBiFunction<String, String> weights,
        Map<String, LineHead> waiting) {

    public OwnLines {
        waiting = Map.copyOf(waiting);
    }

    /** This instance, while nobody waits, and any number of callers may. */
    public OwnLines(LongSupplier id, String owner, Predicate<String> fair) {
        this(
                id,
                owner,
                fair,
                name -> LineLimit.UNLIMITED,
                name -> LineLimit.UNLIMITED,
                name -> false,
                name -> false,
                (name, share) -> 1,
                Map.of());
    }

    public OwnLines withMaxWaiting(ToIntFunction<String> limits, Predicate<String> keepingNewest) {
        return new OwnLines(id, owner, fair, limits, maxPerShare, keepingNewest, reused, weights, waiting);
    }

    public OwnLines withMaxPerShare(ToIntFunction<String> limits) {
        return new OwnLines(id, owner, fair, maxWaiting, limits, keepsNewest, reused, weights, waiting);
    }

    public OwnLines withReuse(Predicate<String> isReused) {
        return new OwnLines(id, owner, fair, maxWaiting, maxPerShare, keepsNewest, isReused, weights, waiting);
    }

    public OwnLines withWeights(ToIntBiFunction<String, String> ofShares) {
        return new OwnLines(id, owner, fair, maxWaiting, maxPerShare, keepsNewest, reused, ofShares, waiting);
    }

    public OwnLines with(Map<String, LineHead> callers) {
        return new OwnLines(id, owner, fair, maxWaiting, maxPerShare, keepsNewest, reused, weights, callers);
    }

    public long instance() {
        return id.getAsLong();
    }

    public boolean isFair(String name) {
        return fair.test(name);
    }

    public LineHead of(String name) {
        return waiting.getOrDefault(name, LineHead.EMPTY);
    }

    /** Whether not any number of callers may wait for a semaphore. */
    public boolean isLimited(String name) {
        return maxWaiting.applyAsInt(name) < LineLimit.UNLIMITED || isLimitedPerShare(name);
    }

    public boolean isLimitedPerShare(String name) {
        return maxPerShare.applyAsInt(name) < LineLimit.UNLIMITED;
    }

    /** How many callers may wait for a semaphore, with those of this instance. */
    public LineLimit limit(String name) {
        return isLimited(name)
                ? new LineLimit(maxWaiting.applyAsInt(name), of(name).size(), keepsNewest.test(name))
                : LineLimit.NONE;
    }

    /** How many callers with a share may wait for a semaphore, with those of this instance. Callers without one are not limited. */
    public LineLimit limit(String name, Share share) {
        return isLimitedPerShare(name) && !share.isNone()
                ? new LineLimit(maxPerShare.applyAsInt(name), of(name).callers(share), keepsNewest.test(name))
                : LineLimit.NONE;
    }
}
