package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.engine.batch.Acquire.Stage;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.Place;
import io.dbsemaphore.line.ReservationWindow;
import io.dbsemaphore.line.Share;
import io.dbsemaphore.line.Waiter;
import io.dbsemaphore.line.WaitersElsewhere;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The line of one semaphore while somebody waits for it: what answers of the database have told, and the order that follows. */
final class ModelSharedLine {

    /** For so long a line stays in the order of shares, and so often it forgets the shares that nobody waits for. */
    private static final long TEN_SECONDS = Duration.ofSeconds(10).toNanos();

    private final String name;
    private final int capacity;
    private final Set<ModelCaller> tried = new HashSet<>();
    private WaitersElsewhere elsewhere = WaitersElsewhere.NONE;
    private @Nullable ModelShares shares;
    private boolean hasSorted;
    private long sortedAt;
    private long sharedUntil;
    private long readAt;
    private long answeredAt;

    ModelSharedLine(String name, int capacity) {
        this.name = name;
        this.capacity = capacity;
    }

    boolean isShared() {
        return shares != null;
    }

    void add(ModelCaller caller, Set<ModelCaller> waiting, long now) {
        tried.remove(caller);
        if (shares == null) {
            share(waiting, now);
        }
    }

    void tried(Collection<ModelCaller> woken) {
        tried.addAll(woken);
    }

    private void share(Set<ModelCaller> waiting, long now) {
        boolean hasShares = elsewhere.hasShares()
                || waiting.stream().anyMatch(each -> !each.state().share().isNone());
        sharedUntil = hasShares ? now + TEN_SECONDS : sharedUntil;
        if (!hasShares && (shares == null || now - sharedUntil >= 0)) {
            shares = null;
            tried.clear();
        } else if (shares == null) {
            shares = new ModelShares(capacity);
            tried.clear();
            hasSorted = capacity == 1;
            sortedAt = 0;
        }
    }

    void answered(RemainingAvailability read, Set<ModelCaller> waiting, long now) {
        elsewhere = read.elsewhere();
        readAt = Place.micros(read.readAt());
        answeredAt = now;
        share(waiting, now);
        if (shares == null) {
            return;
        }
        tried.removeIf(each -> each.stage() == Stage.DONE);
        boolean isBack = read.tags() != null && read.tags().time() < shares.time();
        if (read.tags() != null) {
            shares.learn(read.tags());
        }
        boolean sorts = !hasSorted || isBack;
        if (sorts || now - sortedAt > TEN_SECONDS) {
            sortedAt = sorts ? sortedAt : now;
            hasSorted = true;
            Set<Share> present = new HashSet<>();
            Stream.concat(waiting.stream(), tried.stream())
                    .filter(each -> !each.state().isOfSeveral())
                    .forEach(each -> present.add(each.state().share()));
            elsewhere.queues().forEach(queue -> queue.first().forEach(each -> present.add(each.share())));
            shares.retain(present);
        }
    }

    boolean isWindowOpen(long now) {
        return ReservationWindow.isOpen(readAt + TimeUnit.NANOSECONDS.toMicros(now - answeredAt));
    }

    private List<ModelShares.Caller> own(Collection<ModelCaller> waiting) {
        Set<ModelCaller> all = new HashSet<>(waiting);
        all.addAll(tried);
        return all.stream()
                .map(each -> caller(each, each.state().toWaiter(name), 1, each.acquire.ticket()))
                .toList();
    }

    private ModelShares.Caller caller(Object id, Waiter waiter, long instance, long ticket) {
        return new ModelShares.Caller(
                id,
                waiter.share(),
                waiter.place().at(),
                instance,
                ticket,
                waiter.ask().needs(capacity),
                waiter.ofSeveral());
    }

    private List<ModelShares.Caller> inOrder(Collection<ModelCaller> waiting, boolean isOpen) {
        List<ModelShares.Caller> all = new ArrayList<>(own(waiting));
        elsewhere
                .queues()
                .forEach(queue ->
                        queue.first().forEach(each -> all.add(caller(each, each, queue.instance(), all.size()))));
        return shares.inOrder(all, isOpen);
    }

    /** How many permits are withheld for callers before this one. Those that are being tried have been promised theirs. */
    long ahead(ModelCaller caller, Map<ModelCaller, Long> waiting, boolean isOpen) {
        long ahead = 0;
        for (ModelShares.Caller each : inOrder(waiting.keySet(), isOpen)) {
            if (each.id() == caller) {
                return ahead;
            }
            boolean waits =
                    each.id() instanceof ModelCaller own ? !tried.contains(own) && (own.stage() == Stage.LINE) : true;
            ahead += waits && (isOpen || !each.ofSeveral()) ? each.permits() : 0;
        }
        throw new AssertionError("Does not wait: " + caller);
    }

    @Nullable ModelCaller first(Map<ModelCaller, Long> waiting, long now, boolean ofOne) {
        return inOrder(waiting.keySet(), isWindowOpen(now)).stream()
                .filter(each -> each.id() instanceof ModelCaller own && !tried.contains(own))
                .filter(each -> !(ofOne && each.ofSeveral()))
                .map(each -> (ModelCaller) each.id())
                .findFirst()
                .orElse(null);
    }

    /** What other instances are told: the first callers, of this instance only, without those that are being tried. */
    LineHead head(Map<ModelCaller, Long> waiting, long since) {
        List<Waiter> first = new ArrayList<>();
        List<ModelShares.Caller> order = shares.inOrder(own(waiting.keySet()), true).stream()
                .filter(each -> !tried.contains((ModelCaller) each.id()))
                .toList();
        order.stream().filter(ModelShares.Caller::ofSeveral).limit(8).forEach(each -> first.add(waiter(each)));
        Set<Share> seen = new HashSet<>();
        int chosen = 0;
        for (ModelShares.Caller each : order) {
            if (!each.ofSeveral() && (seen.add(each.share()) || chosen < 16)) {
                chosen++;
                first.add(waiter(each));
            }
        }
        return new LineHead(first, waiting.size(), since, true, false);
    }

    private Waiter waiter(ModelShares.Caller caller) {
        return ((ModelCaller) caller.id()).state().toWaiter(name);
    }
}
