package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The callers of a test that wait for one semaphore, in one or more instances by turns. Permits are released one after the other, and each
 * release serves one caller, so that the order of the grants is known.
 */
final class ShareCallers {

    /** The longest wait time of a caller, and the longest time for what has to happen soon. */
    static final Duration WAIT_TIME = Duration.ofSeconds(60);

    static final Duration SOON = Duration.ofSeconds(20);

    /** The head start of the first caller. That of each later one is a second shorter, so the clocks of instances do not matter. */
    private static final Duration HEAD_START = Duration.ofMinutes(50);

    private final SemaphoreAdmin admin;
    private final List<SemaphoreTemplate> instances;
    private final String name;
    private final BlockingQueue<Answer> answers = new LinkedBlockingQueue<>();
    /** What is held, by its fencing tokens, which rise in the order of the grants. */
    private final TreeMap<Long, PermitGrant> held = new TreeMap<>();
    /** The served callers, by the tokens of their grants. */
    private final TreeMap<Long, String> served = new TreeMap<>();

    private int joined;
    private int waiting;
    private boolean isOnePermitEach = true;

    private record Answer(
            String caller,
            @Nullable PermitGrant grant,
            @Nullable Throwable failure) {}

    ShareCallers(List<Node> nodes, String name) {
        this(nodes.get(0).admin(), nodes.stream().map(Node::semaphores).toList(), name);
    }

    ShareCallers(SemaphoreAdmin admin, List<SemaphoreTemplate> instances, String name) {
        this.admin = admin;
        this.instances = instances;
        this.name = name;
    }

    String name() {
        return name;
    }

    /** A request for one permit for this share; empty for none. */
    AcquireRequest request(String share) {
        AcquireRequest request = AcquireRequest.of(name).withWaitTime(WAIT_TIME);
        return share.isEmpty() ? request : request.withShare(share);
    }

    /** Acquires so many permits one after the other, without a share, while nobody waits. */
    ShareCallers hold(int permits) {
        for (int i = 0; i < permits; i++) {
            add(instances.get(0).acquire(AcquireRequest.of(name)));
        }
        return this;
    }

    /** One caller for each share begins to wait, in this order; all of them are known to wait then. */
    ShareCallers join(String... shares) {
        for (String share : shares) {
            begin(share, request(share));
        }
        awaitWaiting();
        return this;
    }

    /** So many callers of one share. */
    ShareCallers join(int callers, String share) {
        for (int i = 0; i < callers; i++) {
            begin(share, request(share));
        }
        awaitWaiting();
        return this;
    }

    /** A caller begins to wait, and is known to wait then. */
    CompletableFuture<PermitGrant> join(String caller, AcquireRequest request) {
        CompletableFuture<PermitGrant> acquire = begin(caller, request);
        awaitWaiting();
        return acquire;
    }

    /** A caller begins to wait in this instance, and is known to wait then. */
    CompletableFuture<PermitGrant> join(SemaphoreTemplate instance, String caller, AcquireRequest request) {
        CompletableFuture<PermitGrant> acquire = begin(instance, caller, request);
        awaitWaiting();
        return acquire;
    }

    /** A caller comes, and may be granted its permits at once. */
    CompletableFuture<PermitGrant> begin(String caller, AcquireRequest request) {
        return begin(instances.get(joined % instances.size()), caller, request);
    }

    private CompletableFuture<PermitGrant> begin(SemaphoreTemplate instance, String caller, AcquireRequest request) {
        AcquireRequest inOrder =
                instances.size() == 1 ? request : request.withHeadStart(HEAD_START.minusSeconds(joined));
        joined++;
        waiting++;
        CompletableFuture<PermitGrant> acquire = instance.acquireAsync(inOrder);
        var unused = acquire.whenComplete((grant, failure) -> {
            if (!isWithdrawn(failure)) {
                answers.add(new Answer(caller, grant, failure));
            }
        });
        return acquire;
    }

    private static boolean isWithdrawn(@Nullable Throwable failure) {
        return failure instanceof CancellationException
                || failure instanceof PermitsUnavailableException
                || failure instanceof SemaphoreClosedException;
    }

    /** So many callers that waited have been cancelled or refused, or their instance was closed. The database knows that then. */
    ShareCallers withdrawn(int callers) {
        waiting -= callers;
        awaitWaiting();
        return this;
    }

    /** Waits until the database knows of all callers that wait. */
    void awaitWaiting() {
        await("%d waiting callers of %s".formatted(waiting, name))
                .atMost(SOON)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> {
                    answers.forEach(this::requireGrant);
                    return admin.find(name).orElseThrow().waiting() == waiting;
                });
    }

    /**
     * Serves so many callers: releases what has been held for the longest, and waits until somebody is granted permits, each time. Nobody
     * else is served by one permit, and no more is held than may be.
     */
    ShareCallers serve(int callers) {
        for (int i = 0; i < callers; i++) {
            release();
            take();
            if (isOnePermitEach) {
                assertNobodyElseServed();
            }
            SemaphoreStatus status = admin.find(name).orElseThrow();
            assertThat(status.held()).as("held permits").isLessThanOrEqualTo(status.capacity());
        }
        return this;
    }

    /** Serves all that wait, and releases all permits. */
    ShareCallers serveAll() {
        serve(waiting);
        releaseAll();
        return this;
    }

    /** Serves all that wait. Each grant is released by another thread as soon as it is known. */
    ShareCallers serveAllAtOnce() {
        List<CompletableFuture<?>> releases = new ArrayList<>();
        while (waiting > 0) {
            while (!held.isEmpty()) {
                PermitGrant next = removeFirst();
                releases.add(CompletableFuture.runAsync(next::release));
            }
            take();
        }
        releaseAll();
        CompletableFuture.allOf(releases.toArray(CompletableFuture[]::new)).join();
        return this;
    }

    /** Releases what has been held for the longest. */
    PermitGrant release() {
        PermitGrant first = removeFirst();
        first.release();
        return first;
    }

    private PermitGrant removeFirst() {
        return held.remove(held.firstKey());
    }

    private void add(PermitGrant grant) {
        isOnePermitEach &= grant.permits().getOrDefault(name, 0) == 1;
        held.put(grant.fencingToken(name), grant);
    }

    void releaseAll() {
        while (!held.isEmpty()) {
            release();
        }
    }

    /** Waits until somebody is granted permits, and holds them. */
    PermitGrant take() {
        Answer answer = poll();
        if (answer == null) {
            throw Measurement.late(
                    "Nobody was granted permits of %s within %s, after %s, while %d callers waited and %d held permits"
                            .formatted(name, SOON, order(), waiting, held.size()));
        }
        PermitGrant grant = requireGrant(answer);
        waiting--;
        served.put(grant.fencingToken(name), answer.caller());
        add(grant);
        return grant;
    }

    private PermitGrant requireGrant(Answer answer) {
        if (answer.grant() == null) {
            throw new AssertionError(answer.caller() + " was not granted permits, after " + order(), answer.failure());
        }
        return answer.grant();
    }

    private @Nullable Answer poll() {
        try {
            return answers.poll(SOON.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** The served callers, in the order of the grants. */
    List<String> served() {
        return List.copyOf(served.values());
    }

    /** The served callers, in the order of the grants, with spaces between. */
    String order() {
        return String.join(" ", served.values());
    }

    /** Nobody has been granted permits but those who were taken. */
    void assertNobodyElseServed() {
        assertThat(answers).as("who else was served, after %s", order()).isEmpty();
    }

    /**
     * How far apart two shares that both wait are at most: their grants for each unit of weight, by the sum of what one grant of each is. The
     * promise is at most 1.
     */
    static double distance(List<String> order, Collection<String> shares, ToIntFunction<String> weights) {
        Map<String, Integer> grants = new HashMap<>();
        double most = 0;
        for (String share : order) {
            grants.merge(share, 1, Integer::sum);
            for (String one : shares) {
                for (String other : shares) {
                    long apart = (long) grants.getOrDefault(one, 0) * weights.applyAsInt(other)
                            - (long) grants.getOrDefault(other, 0) * weights.applyAsInt(one);
                    int promised = weights.applyAsInt(one) + weights.applyAsInt(other);
                    most = Math.max(most, (double) apart / promised);
                }
            }
        }
        return most;
    }

    /** The beginning of an order, up to where one of its shares has been served for the last time: until then all of them wait. */
    static List<String> whileAllWait(List<String> order, Collection<String> shares) {
        int end = order.size();
        for (String share : shares) {
            end = Math.min(end, order.lastIndexOf(share) + 1);
        }
        return order.subList(0, end);
    }

    /**
     * Checks an order. Among several instances, one that stands still for seconds is overtaken, so the test is repeated then: it must be
     * {@linkplain io.dbsemaphore.testing.measurement.Measured measured}.
     */
    static void check(int instances, Runnable assertions) {
        if (instances == 1) {
            assertions.run();
        } else {
            Measurement.check(assertions);
        }
    }
}
