package io.dbsemaphore.line;

import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The callers of one instance that wait for a semaphore, as stored in the database.
 *
 * @param first the callers with the smallest places, in order; empty if the record cannot be read
 * @param size the number of all callers
 * @param expiresAt when the record expires, by the database's clock, unless the instance confirms it
 * @param weights the weights of the callers' shares, as that instance knows them, by tenant and by path; null if it is of a version that
 *     knows no shares
 * @param byShare the number of callers with a share, by path, where more wait than are among the first, and that is known
 */
public record RecordedHead(
        long semaphoreId,
        long instance,
        List<Waiter> first,
        int size,
        LocalDateTime expiresAt,
        @Nullable Map<String, Integer> weights,
        Map<String, Integer> byShare) {

    /** Longer than the time for which an instance confirms its callers, plus the largest difference between the clocks of a cluster. */
    private static final Duration MAX_VALID = Duration.ofSeconds(3);

    public RecordedHead {
        first = List.copyOf(first);
    }

    /** A record with all callers of each share, as far as is known. */
    public RecordedHead(
            long semaphoreId,
            long instance,
            List<Waiter> first,
            int size,
            LocalDateTime expiresAt,
            @Nullable Map<String, Integer> weights) {
        this(semaphoreId, instance, first, size, expiresAt, weights, Map.of());
    }

    /** A record of callers without shares. */
    public RecordedHead(long semaphoreId, long instance, List<Waiter> first, int size, LocalDateTime expiresAt) {
        this(semaphoreId, instance, first, size, expiresAt, Map.of());
    }

    /** Whether more callers with a share may wait than {@link #callers} counts. */
    public boolean mayHaveMore(Share share) {
        return size > first.size() && !byShare.containsKey(share.path());
    }

    /** Whether the callers are in the order of their shares: the record has the weight of callers without one, too. */
    boolean isShared() {
        return weights != null && !weights.isEmpty();
    }

    RecordedHead with(List<Waiter> others) {
        return new RecordedHead(semaphoreId, instance, others, size, expiresAt, weights, byShare);
    }

    /** The number of callers with a share: those among the first ones, unless there are known to be more. */
    long callers(Share share) {
        Integer known = byShare.get(share.path());
        return known != null
                ? known
                : first.stream().filter(waiter -> waiter.share().equals(share)).count();
    }

    /** The caller behind which others of this instance may stand whose places are not known; null if all are known. */
    @Nullable Waiter lastBeforeHidden() {
        if (size <= first.size() || first.isEmpty()) {
            return null;
        }
        // with shares, a record has only the first callers of further keys behind the first sixteen
        Waiter last = first.get((isShared() ? Math.min(LineHead.MAX_FIRST, first.size()) : first.size()) - 1);
        List<Waiter> several = first.stream().filter(Waiter::ofSeveral).toList();
        return several.size() < LineHead.MAX_OF_SEVERAL
                ? last
                : Collections.min(
                        List.of(several.get(LineHead.MAX_OF_SEVERAL - 1), last), Comparator.comparing(Waiter::place));
    }

    /**
     * A caller among those of all instances.
     *
     * @param head the index of its instance's record
     * @param mayMoreBeAhead whether callers whose places are not known may be ahead of it
     */
    public record Standing(int head, Waiter waiter, boolean mayMoreBeAhead) {}

    /** The callers of these records, the next one first. */
    public static List<Standing> inOrder(List<RecordedHead> heads) {
        Place hidden = heads.stream()
                .map(RecordedHead::lastBeforeHidden)
                .filter(Objects::nonNull)
                .map(Waiter::place)
                .min(Comparator.naturalOrder())
                .orElse(Place.LAST);
        List<Standing> standings = new ArrayList<>();
        for (int i = 0; i < heads.size(); i++) {
            for (Waiter waiter : heads.get(i).first) {
                standings.add(new Standing(i, waiter, waiter.place().compareTo(hidden) > 0));
            }
        }
        standings.sort(Comparator.comparing((Standing each) -> each.waiter().place())
                .thenComparing(each -> heads.get(each.head()).instance));
        return standings;
    }

    /** Whether the record is valid. If the expiry is too far away, the clock was set back, and the record is not valid. */
    boolean isValid(LocalDateTime now) {
        return expiresAt.isAfter(now) && expiresAt.isBefore(now.plus(MAX_VALID));
    }

    /** Whether the record stays valid for this time without being confirmed. */
    public boolean isValidFor(Duration time, LocalDateTime now) {
        return isValid(now) && !expiresAt.isBefore(now.plus(time));
    }
}
