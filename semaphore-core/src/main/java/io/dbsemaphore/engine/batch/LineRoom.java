package io.dbsemaphore.engine.batch;

import io.dbsemaphore.engine.batch.Acquire.Stage;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.OwnLines;
import io.dbsemaphore.line.Share;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The room in the lines of this JVM: whether a caller may begin to wait, with the callers of other instances that are known. A caller that
 * has waited keeps its room while it is tried again.
 *
 * <p>{@code LineRoomTests} tests it.
 *
 * @param limits says how many callers may wait
 * @param displaced callers that no longer wait, since newer ones have the room, and are not answered yet; a concurrent queue
 */
record LineRoom(OwnLines limits, WaitingLines lines, ReadyQueue ready, List<Batch> inFlight, Queue<Acquire> displaced)
        implements Predicate<Acquire> {

    /** Whether a caller may join the lines without being tried: there is room even if all callers that are being decided wait. */
    @Override
    public boolean test(Acquire acquire) {
        return isLeftFor(acquire, true);
    }

    /** Whether a caller that was refused may wait. */
    boolean isLeftFor(Acquire acquire) {
        return acquire.hasWaited() || isLeftFor(acquire, false);
    }

    private boolean isLeftFor(Acquire acquire, boolean behindAll) {
        for (String name : acquire.names()) {
            if (limits.isLimited(name) && isFull(name, acquire.share(), behindAll)) {
                return false;
            }
        }
        return true;
    }

    private boolean isFull(String name, Share share, boolean behindAll) {
        return limits.limit(name)
                        .isReached(
                                callers(name, behindAll), lines.elsewhere(name).callers())
                || (limits.isLimitedPerShare(name)
                        && limits.limit(name, share)
                                .isReached(
                                        callers(name, share, behindAll),
                                        lines.elsewhere(name).callers(share)));
    }

    /** The head of a line with the number of callers of its shares, and of those of new callers, if that is limited. */
    LineHead counted(String name, LineHead head, Collection<Acquire> members) {
        if (!limits.isLimitedPerShare(name)) {
            return head;
        }
        Map<Share, Integer> counts = new HashMap<>();
        head.first().forEach(each -> counts.put(each.share(), lines.size(name, each.share())));
        members.forEach(each -> counts.put(each.share(), lines.size(name, each.share())));
        triedAgain(name).forEach(acquire -> counts.computeIfPresent(acquire.share(), (share, waiting) -> waiting + 1));
        return head.withCallers(counts);
    }

    /** Takes callers out of these lines that newer ones have displaced. Returns the semaphores that they waited for. */
    Set<String> displace(Collection<String> names) {
        Set<String> left = new TreeSet<>();
        for (String name : names) {
            if (lines.isAwaited(name) && limits.keepsNewest().test(name)) {
                for (Acquire acquire : lines.removeDisplaced(name)) {
                    acquire.moveTo(Stage.DONE);
                    displaced.add(acquire);
                    left.addAll(acquire.names());
                }
            }
        }
        lines.recordDeparted(left);
        return left;
    }

    /** The number of callers ahead of an acquire that are being tried after they have waited. */
    long triedAhead(String name, Acquire acquire) {
        long ahead = ready.wokenAhead(name, acquire);
        for (Batch batch : inFlight) {
            for (Acquire member : batch.members()) {
                boolean isAhead = member.hasWaited()
                        && member.names().contains(name)
                        && Acquire.IN_ORDER.compare(member, acquire) < 0;
                ahead += isAhead && member.isInBatch() ? 1 : 0;
            }
        }
        return ahead;
    }

    /**
     * The number of callers that wait for a semaphore, or are tried again after they have waited.
     *
     * @param withNew whether new callers that are being decided count, too, also those of other semaphores
     */
    private int callers(String name, boolean withNew) {
        return lines.size(name)
                + (withNew ? beingDecided() : (int) triedAgain(name).count());
    }

    /** As {@link #callers(String, boolean)}, of the callers with a share. */
    private int callers(String name, Share share, boolean withNew) {
        return lines.size(name, share)
                + (withNew
                        ? beingDecided()
                        : (int) triedAgain(name)
                                .filter(acquire -> acquire.share().equals(share))
                                .count());
    }

    private int beingDecided() {
        int inBatches = 0;
        for (Batch batch : inFlight) {
            inBatches +=
                    (int) batch.members().stream().filter(Acquire::isInBatch).count();
        }
        return ready.size() + inBatches;
    }

    /** The callers that have waited for a semaphore and are tried again. */
    private Stream<Acquire> triedAgain(String name) {
        return Stream.concat(
                ready.woken(name).stream(),
                inFlight.stream()
                        .flatMap(batch -> batch.members().stream())
                        .filter(member -> member.hasWaited() && member.names().contains(name) && member.isInBatch()));
    }
}
