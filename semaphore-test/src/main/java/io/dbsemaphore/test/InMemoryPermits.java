package io.dbsemaphore.test;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.QueuePosition;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.spi.PermitManager;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Grants permits of a {@link Ledger} in the order of arrival, less the head starts, or by shares, under one lock.
 *
 * <p>Every caller goes through the queue. After each change (a new caller, a release, a capacity, the clock) the queue is
 * {@linkplain #settle settled}, from its first caller to its last, in the order of a {@link Line}. A caller is granted its permits if they
 * are available in addition to those of the callers ahead. Otherwise it is refused if its wait time has passed, and goes on waiting if not.
 * Callers get their answers outside of the lock. A future is completed on a thread of its own: its actions are code of the test, which may
 * block.
 */
final class InMemoryPermits implements PermitManager {

    /** Daemon threads without a limit, so that code of the test may block some of them. They inherit no thread-locals. */
    private static final Executor THREADS = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(null, task, "semaphores-in-memory", 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(InMemoryPermits.class.getClassLoader());
        return thread;
    });

    /** Reads a running clock every 10 ms while callers wait. */
    private static final Executor POLL = CompletableFuture.delayedExecutor(10, TimeUnit.MILLISECONDS, THREADS);

    /**
     * Completes the futures. As with a database, that takes some time, in which the caller adds its actions. Actions that are added
     * later run on the thread of the caller.
     */
    private static final Executor DELIVERY = CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS, THREADS);

    private final Object lock = new Object();
    private final MovableClock clock;
    private final Ledger ledger;
    private final CheckedGrants checked = new CheckedGrants();

    /** In the order of arrival, less the head starts. */
    private final List<Caller> queue = new ArrayList<>();

    private final List<Runnable> answers = new ArrayList<>();

    /** The scripted outcomes of the next acquires that name a semaphore. */
    private final Map<String, Deque<Consumer<Caller>>> scripts = new HashMap<>();

    /** Callers that lose their grant before they get it. */
    private final Set<Caller> losers = new HashSet<>();

    /** The calls of listeners, one after the other. */
    private CompletableFuture<?> tellings = CompletableFuture.completedFuture(null);

    /** The positions of callers that a listener was told. */
    private final Map<Caller, List<QueuePosition>> told = new HashMap<>();

    /** The caller that has just come; all others in the queue wait. */
    private @Nullable Caller newcomer;

    /** Whether a caller has been displaced, so that others may be served. */
    private boolean isDisplaced;

    private boolean isWatchingTheTime;

    InMemoryPermits(Ledger ledger, MovableClock clock) {
        this.ledger = ledger;
        this.clock = clock;
        clock.onMove(() -> change(unused -> true));
    }

    /** Reads or changes the semaphores, then answers the callers that the change serves. */
    <T extends @Nullable Object> T change(Function<Ledger, T> change) {
        List<Runnable> due;
        T result;
        synchronized (lock) {
            result = change.apply(ledger);
            settle(clock.instant());
            due = List.copyOf(answers);
            answers.clear();
        }
        due.forEach(Runnable::run);
        return result;
    }

    private void settle(Instant now) {
        do {
            isDisplaced = false;
            settleOnce(now);
        } while (isDisplaced);
        newcomer = null;
        told.keySet().retainAll(queue);
        queue.forEach(this::tellPosition);
        watchTheTime();
    }

    /** Tells the listener of a caller where this stands, if that has changed. */
    private void tellPosition(Caller caller) {
        caller.request().waitListener().ifPresent(listener -> {
            List<QueuePosition> positions = positions(caller);
            if (!positions.equals(told.put(caller, positions))) {
                tellings = tellings.handleAsync(
                        (none, failure) -> {
                            listener.waiting(positions);
                            return null;
                        },
                        DELIVERY);
            }
        });
    }

    private List<QueuePosition> positions(Caller caller) {
        return caller.request().permits().keySet().stream()
                .sorted()
                .map(name -> new QueuePosition(name, ahead(caller, name), false, Optional.empty()))
                .toList();
    }

    private void settleOnce(Instant now) {
        Map<String, Long> ahead = new HashMap<>();
        Line line = new Line(queue, ledger, ledger::turns);
        while (!line.isEmpty()) {
            Caller caller = line.removeNext();
            if (!decide(caller, ahead, now)) {
                caller.request()
                        .permits()
                        .keySet()
                        .forEach(name -> ahead.merge(name, (long) ledger.countOf(name, caller.request()), Long::sum));
            }
            if (isDisplaced) {
                return;
            }
        }
    }

    /** Answers a caller if its permits are available, its wait is over, it may not wait, or its request can never be granted. */
    private boolean decide(Caller caller, Map<String, Long> ahead, Instant now) {
        try {
            Ledger.Granted granted = ledger.grant(caller, ahead, now);
            if (granted != null) {
                if (!granted.replayed()) {
                    count(granted.request(), caller.share());
                }
                if (losers.remove(caller)) {
                    ledger.end(granted.request());
                }
                answer(caller, new AcquireResult.Granted(new Grant(this, granted.request(), granted.replayed())));
                return true;
            }
            boolean waits = now.isBefore(caller.deadline());
            List<WaitingLimit> reached = waits && caller == newcomer ? reachedLimits(caller) : List.of();
            Map<String, WaitingLimit> refusing = refusing(reached);
            if (waits && refusing.isEmpty()) {
                reached.stream()
                        .sorted(Comparator.comparing(limit -> limit.share().isEmpty())) // that of the share first
                        .forEach(limit -> displaceEarliest(limit, now));
                return false;
            }
            List<PermitShortage> shortages = ledger.shortages(
                    caller.request(), ahead, name -> ahead(caller, name, refusing.get(name)), refusing, now);
            answer(caller, refusal(caller, shortages));
        } catch (RuntimeException rejection) {
            fail(caller, rejection);
        }
        return true;
    }

    /** Counts a grant for its share, on the semaphores that its caller has waited for or others wait for. */
    private void count(GrantedRequest granted, String share) {
        granted.permits.forEach((name, permits) -> {
            if (queue.stream()
                    .anyMatch(waiting ->
                            waiting != newcomer && waiting.request().permits().containsKey(name))) {
                ledger.turns(name).granted(share, permits);
            }
        });
    }

    /** The limits by which as many others wait as may. */
    private List<WaitingLimit> reachedLimits(Caller caller) {
        return ledger.waitingLimits(caller.request()).stream()
                .filter(limit -> others(caller, limit).size() >= limit.max())
                .toList();
    }

    /** The first limit of each semaphore by which a further caller is refused. */
    private static Map<String, WaitingLimit> refusing(List<WaitingLimit> reached) {
        return reached.stream()
                .filter(limit -> !limit.keepsNewest())
                .collect(Collectors.toUnmodifiableMap(WaitingLimit::name, limit -> limit, (first, later) -> first));
    }

    /** The callers that a limit counts, without this one. */
    private List<Caller> others(@Nullable Caller caller, WaitingLimit limit) {
        return queue.stream()
                .filter(other -> other != caller && limit.counts(other))
                .toList();
    }

    /** Ends the wait of the caller that came first, if still as many wait beside the newcomer as may. */
    private void displaceEarliest(WaitingLimit limit, Instant now) {
        List<Caller> others = others(newcomer, limit);
        if (others.size() >= limit.max()) {
            Caller earliest = Collections.min(others, Comparator.comparing(Caller::since));
            answer(earliest, refusal(earliest, List.of(ledger.displacement(limit, earliest.request(), now))));
            isDisplaced = true;
        }
    }

    /** The number of callers ahead of this one; if a limit refuses it, of all others that this limit counts. */
    private long ahead(Caller caller, String name, @Nullable WaitingLimit refusing) {
        return refusing == null ? ahead(caller, name) : others(caller, refusing).size();
    }

    private long ahead(Caller caller, String name) {
        return Line.order(queue, ledger).stream()
                .takeWhile(other -> other != caller)
                .filter(other -> other.request().permits().containsKey(name))
                .count();
    }

    private static AcquireResult refusal(Caller caller, List<PermitShortage> shortages) {
        return new AcquireResult.Unavailable(shortages, caller.waitTime());
    }

    private void answer(Caller caller, AcquireResult result) {
        queue.remove(caller);
        answers.add(() -> caller.delivery().execute(() -> {
            if (!caller.answer().complete(result)
                    && result instanceof AcquireResult.Granted granted
                    && !granted.grant().isReplayed()) {
                granted.grant().close(); // its caller has left meanwhile
            }
        }));
    }

    private void fail(Caller caller, RuntimeException failure) {
        queue.remove(caller);
        answers.add(() -> caller.delivery().execute(() -> caller.answer().completeExceptionally(failure)));
    }

    /** Polls a running clock, which reaches deadlines and expiries by itself. */
    private void watchTheTime() {
        if (!queue.isEmpty() && !isWatchingTheTime) {
            isWatchingTheTime = true;
            POLL.execute(() -> change(unused -> isWatchingTheTime = false));
        }
    }

    @Override
    public AcquireResult acquire(AcquireRequest request) {
        return await(request, false);
    }

    @Override
    public AcquireResult acquireForWork(AcquireRequest request) {
        return await(request, true);
    }

    @Override
    public CompletableFuture<AcquireResult> acquireAsync(AcquireRequest request) {
        Caller caller = enqueue(request, false, DELIVERY);
        CompletableFuture<?> unused =
                caller.answer().whenComplete((result, failure) -> change(ledger -> queue.remove(caller)));
        return caller.answer();
    }

    /** The answer, which says where its caller stands. */
    private final class Answer extends CompletableFuture<AcquireResult> implements QueuePosition.Source {

        @Override
        public List<QueuePosition> positions() {
            synchronized (lock) {
                return queue.stream()
                        .filter(caller -> caller.answer() == this)
                        .findFirst()
                        .map(InMemoryPermits.this::positions)
                        .orElse(List.of());
            }
        }
    }

    private Caller enqueue(AcquireRequest request, boolean forWork, Executor delivery) {
        return change(ledger -> {
            ledger.requireWithinLimits(request);
            Caller caller = new Caller(
                    request,
                    request.externalId().orElseGet(() -> UUID.randomUUID().toString()),
                    forWork,
                    clock.instant(),
                    ledger.waitTime(request),
                    new Answer(),
                    delivery);
            request.permits().keySet().stream()
                    .flatMap(name -> Optional.ofNullable(scripts.get(name)).map(Deque::poll).stream())
                    .findFirst()
                    .orElse(this::add)
                    .accept(caller);
            return caller;
        });
    }

    /** Adds a caller behind all others, or if it has a head start, in front of those with a later place. */
    private void add(Caller caller) {
        int at = queue.size();
        while (!caller.headStart().isZero()
                && at > 0
                && queue.get(at - 1).place().isAfter(caller.place())) {
            at--;
        }
        queue.add(at, caller);
        newcomer = caller;
    }

    private AcquireResult await(AcquireRequest request, boolean forWork) {
        if (Thread.currentThread().isInterrupted()) {
            throw new AcquireInterruptedException(request.permits().keySet());
        }
        Caller caller = enqueue(request, forWork, Runnable::run);
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return caller.answer().get();
                } catch (InterruptedException interrupt) {
                    interrupted = true;
                    if (change(ledger -> queue.remove(caller))) {
                        throw new AcquireInterruptedException(request.permits().keySet());
                    }
                } catch (ExecutionException failure) {
                    throw (RuntimeException) failure.getCause();
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    void refuseNext(String name) {
        script(name, caller -> answer(caller, refusal(caller, List.of(ledger.exhausted(name, caller.request())))));
    }

    void failNext(String name, RuntimeException failure) {
        script(name, caller -> fail(caller, failure));
    }

    void loseNext(String name) {
        script(name, caller -> {
            losers.add(caller);
            add(caller);
        });
    }

    private void script(String name, Consumer<Caller> script) {
        synchronized (lock) {
            scripts.computeIfAbsent(name, unused -> new ArrayDeque<>()).add(script);
        }
    }

    void forgetScripts() {
        synchronized (lock) {
            scripts.clear();
        }
    }

    /** Takes all grants of a semaphore from their holders. */
    int lose(String name) {
        return change(ledger -> {
            List<GrantedRequest> lost = ledger.holders(name).toList();
            lost.forEach(ledger::end);
            return lost.size();
        });
    }

    long waiting(String name) {
        synchronized (lock) {
            return queue.stream()
                    .filter(caller -> caller.request().permits().containsKey(name))
                    .count();
        }
    }

    Instant now() {
        return clock.instant();
    }

    @Override
    public ReleaseOutcome release(String externalId) {
        if (!checked.defer(externalId, () -> releaseNow(externalId))) {
            return releaseNow(externalId);
        }
        return change(ledger -> {
            Optional.ofNullable(ledger.find(externalId)).ifPresent(request -> request.isReleasedLater = true);
            return ReleaseOutcome.DEFERRED;
        });
    }

    ReleaseOutcome releaseNow(String externalId) {
        return change(ledger -> {
            GrantedRequest request = ledger.held.get(externalId);
            if (request == null) {
                return ledger.find(externalId) == null ? ReleaseOutcome.NOT_FOUND : ReleaseOutcome.ALREADY_RELEASED;
            }
            ledger.end(request);
            return ReleaseOutcome.RELEASED;
        });
    }

    @Override
    public Optional<PermitGrant> find(String externalId) {
        return change(ledger ->
                Optional.ofNullable(ledger.held.get(externalId)).map(request -> new Grant(this, request, true)));
    }

    @Override
    public PermitGrant renew(String externalId, Duration ttl) {
        return change(ledger -> {
            ledger.checkTtl(ttl);
            GrantedRequest request = ledger.held.get(externalId);
            Instant now = clock.instant();
            if (request == null || !request.isAlive(now)) {
                GrantedRequest known = ledger.find(externalId);
                throw new PermitLostException(externalId, known == null ? Map.of() : known.permits);
            }
            request.renew(now, ttl);
            return new Grant(this, request, true);
        });
    }

    @Override
    public void requireHeld(PermitGrant grant) {
        CheckedGrants.requireTransaction();
        if (!change(ledger -> ledger.held.containsKey(grant.externalId()))) { // contains those to be reclaimed, too
            throw new PermitLostException(grant.externalId(), grant.permits());
        }
        checked.add(grant.externalId());
    }

    @Override
    public List<String> firstHolders(String name) {
        return change(ledger -> ledger.holders(name)
                .limit(3)
                .map(request -> request.owner
                        + request.label.map(label -> " for " + label).orElse("") + " since " + request.acquiredAt)
                .toList());
    }

    /** The handle of one acquire. */
    private record Grant(InMemoryPermits permitManager, GrantedRequest request, boolean isReplayed)
            implements PermitGrant {

        @Override
        public String externalId() {
            return request.externalId;
        }

        @Override
        public String owner() {
            return request.owner;
        }

        @Override
        public Optional<String> label() {
            return request.label;
        }

        @Override
        public Map<String, Integer> permits() {
            return request.permits;
        }

        @Override
        public long fencingToken(String name) {
            Long token = request.tokens.get(name);
            if (token == null) {
                throw new IllegalArgumentException("The grant has no permit of semaphore '" + name + "', but of "
                        + permits().keySet());
            }
            return token;
        }

        @Override
        public Instant acquiredAt() {
            return request.acquiredAt;
        }

        @Override
        public Optional<Instant> expiresAt() {
            return permitManager.change(ledger -> request.expiresAt(permitManager.now()));
        }

        @Override
        public boolean isHeld() {
            return permitManager.change(ledger -> !request.isReleasedLater && request.isAlive(permitManager.now()));
        }

        @Override
        public PermitGrant renew(Duration ttl) {
            permitManager.renew(externalId(), ttl);
            return this;
        }

        @Override
        public ReleaseOutcome release() {
            return permitManager.release(externalId());
        }
    }
}
