package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.ChildJvm;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The callers of a test that wait for one semaphore in several processes, by turns. One permit is released after the other, while the
 * database knows of all callers that wait, so that the order of the grants is known: it is that of the {@link ShareRules}.
 */
final class ProcessCallers {

    private static final Duration SOON = Duration.ofSeconds(20);

    /** The head start of the first caller. That of each later one is a second shorter, so that the order of arrival is known. */
    private static final int HEAD_START = 3_000;

    private final SemaphoreRows rows;
    private final Node node;
    private final List<ChildJvm> processes;
    private final String name;
    private final int capacity;
    private final ShareRules rules;
    /** How many lines of each process have been read. */
    private final Map<ChildJvm, Integer> read = new HashMap<>();

    private final Map<String, Caller> callers = new HashMap<>();
    /** Who holds permits, by their fencing tokens. */
    private final TreeMap<Long, Holder> held = new TreeMap<>();

    private final List<String> refused = new ArrayList<>();
    private final List<Caller> expected = new ArrayList<>();
    private final List<Caller> served = new ArrayList<>();
    private int lines;
    private int waiting;
    private int numbers;
    private @Nullable ChildJvm toBeKilled;
    private Runnable kill = () -> {};

    private record Caller(String id, ChildJvm process, ShareRules.Caller caller) {}

    private record Holder(@Nullable Caller caller, @Nullable PermitGrant grant) {}

    /** All permits are held, without a share, before anybody waits. */
    ProcessCallers(ShareProcesses started, List<ChildJvm> processes, int capacity) {
        this.rows = new SemaphoreRows(started.schema());
        this.node = started.node();
        this.processes = new ArrayList<>(processes);
        this.capacity = capacity;
        name = node.semaphore(capacity);
        rules = new ShareRules(capacity, share -> ShareCallersProcess.WEIGHTS.getOrDefault(share, 1));
        processes.forEach(process -> read.put(process, process.output().size()));
        for (int i = 0; i < capacity; i++) {
            PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name));
            held.put(grant.fencingToken(name), new Holder(null, grant));
            rules.join(new ShareRules.Caller(i - capacity, "", 1));
        }
    }

    /** One caller for each of these shares begins to wait, in this order, in the processes by turns; {@code -} has no share. */
    ProcessCallers join(String shares) {
        for (String share : shares.trim().split(" +")) {
            begin(nextProcess(), share, ShareCallersProcess.WAIT_TIME);
        }
        awaitWaiting();
        return this;
    }

    /** So many callers of one share. */
    ProcessCallers join(int count, String share) {
        return join((share + " ").repeat(count));
    }

    /** A caller begins to wait in this process. */
    ProcessCallers join(ChildJvm process, String share) {
        begin(process, share, ShareCallersProcess.WAIT_TIME);
        awaitWaiting();
        return this;
    }

    /** So many callers in this process. If the share ends with a slash, each has a key of its own. */
    ProcessCallers joinAll(ChildJvm process, int count, String share) {
        int first = numbers;
        List<ShareRules.Caller> all = new ArrayList<>();
        for (int i = first; i < first + count; i++) {
            all.add(add(process, share.endsWith("/") ? share + i : share));
        }
        rules.joinAll(all);
        process.send(
                "crowd %s. %d %d %s %s %d".formatted(name, first, first + count, name, share, HEAD_START - lines++));
        return this;
    }

    /** The caller that joins next has only this wait time; it has passed when this returns, and the others wait. */
    ProcessCallers joinBriefly(String share, String others) {
        Caller first = begin(nextProcess(), share, Duration.ofMillis(1_500));
        for (String other : others.split(" ")) {
            begin(nextProcess(), other, ShareCallersProcess.WAIT_TIME);
        }
        await("the end of the wait time").atMost(SOON).until(() -> {
            readOutput();
            return refused.remove(first.id());
        });
        leave(first);
        awaitWaiting();
        return this;
    }

    private ChildJvm nextProcess() {
        return processes.get(numbers % processes.size());
    }

    private Caller begin(ChildJvm process, String share, Duration waitTime) {
        String id = name + "." + numbers;
        rules.joinAll(List.of(add(process, share)));
        process.send("wait %s %s %s %d %d".formatted(id, name, share, HEAD_START - lines++, waitTime.toMillis()));
        return callers.get(id);
    }

    private ShareRules.Caller add(ChildJvm process, String share) {
        ShareRules.Caller caller = new ShareRules.Caller(numbers, share.equals("-") ? "" : share, 1);
        callers.put(name + "." + numbers, new Caller(name + "." + numbers, process, caller));
        numbers++;
        waiting++;
        return caller;
    }

    private void leave(Caller caller) {
        rules.leave(caller.caller());
        callers.remove(caller.id());
        waiting--;
    }

    /** Waits until the database knows of all callers that wait. */
    ProcessCallers awaitWaiting() {
        await("%d waiting callers of %s".formatted(waiting, name))
                .atMost(SOON.multipliedBy(3))
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> {
                    readOutput();
                    assertThat(held).as("holders while all permits are held").hasSize(capacity);
                    return node.admin().find(name).orElseThrow().waiting() == waiting;
                });
        return this;
    }

    /** Serves all that wait. */
    ProcessCallers serveAll() {
        return serve(waiting);
    }

    /** Serves so many callers, or all: releases what has been held for the longest, and waits for the next grant, each time. */
    ProcessCallers serve(int count) {
        for (int i = 0; i < count && waiting > 0; i++) {
            killFirst();
            release();
            take();
        }
        return this;
    }

    /** Serves all that wait, and releases all permits. */
    void end() {
        serveAll();
        while (!held.isEmpty()) {
            releaseFirst();
        }
    }

    /** This process is to be killed as soon as one of its callers is next; earlier ones have been granted permits, if it has several. */
    ProcessCallers killWhenNext(ChildJvm process, Runnable kill) {
        toBeKilled = process;
        this.kill = kill;
        return this;
    }

    boolean hasKilled() {
        return toBeKilled != null && !toBeKilled.isAlive() && !processes.contains(toBeKilled);
    }

    private void killFirst() {
        ChildJvm process = toBeKilled;
        if (process != null && processes.contains(process) && isNext(process)) {
            List<Caller> lost = waitingIn(process);
            if (served.stream().anyMatch(caller -> caller.process() == process) || lost.size() == 1) {
                kill.run();
                forget(process);
            }
        }
    }

    /** Whether the next caller waits in this process. */
    boolean isNext(ChildJvm process) {
        return callers.get(name + "." + rules.next().orElseThrow().number()).process() == process;
    }

    /** The callers of this process will not be granted permits, and no others join there. Returns them. */
    List<?> forget(ChildJvm process) {
        List<Caller> lost = waitingIn(process);
        lost.forEach(this::leave);
        processes.remove(process);
        return lost;
    }

    /** A process that was forgotten has come back, and its callers have their former places. */
    void remember(ChildJvm process, List<?> lost) {
        processes.add(process);
        for (Object each : lost) {
            Caller caller = (Caller) each;
            callers.put(caller.id(), caller);
            waiting++;
            rules.joinAll(List.of(caller.caller()));
        }
    }

    private List<Caller> waitingIn(ChildJvm process) {
        return callers.values().stream()
                .filter(caller -> caller.process() == process && !served.contains(caller))
                .toList();
    }

    private void release() {
        releaseFirst();
        rules.release(1).forEach(caller -> expected.add(callers.get(name + "." + caller.number())));
    }

    private void releaseFirst() {
        Holder first = held.pollFirstEntry().getValue();
        Caller caller = first.caller();
        if (caller == null) {
            first.grant().release();
        } else if (processes.contains(caller.process())) {
            caller.process().send("release " + caller.id());
        } else {
            node.semaphores().release(caller.id()); // its process has been killed
        }
    }

    private void take() {
        int before = served.size();
        long end = System.nanoTime() + SOON.toNanos();
        for (readOutput(); served.size() == before; readOutput()) {
            if (System.nanoTime() > end) {
                throw Measurement.late("Nobody was granted a permit of %s within %s, after %s, while %d callers waited"
                        .formatted(name, SOON, order(), waiting));
            }
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(500));
        }
        assertThat(served).as("served by one permit").hasSize(before + 1);
        assertThat(held).as("holders").hasSizeLessThanOrEqualTo(capacity);
        assertThat(rows.held(name)).as("held permits").isLessThanOrEqualTo(capacity);
    }

    private void readOutput() {
        for (ChildJvm process : processes) {
            List<String> lines = process.output(read.get(process));
            read.merge(process, lines.size(), Integer::sum);
            for (String line : lines) {
                String[] words = line.split(" ");
                if (words.length > 2 && words[1].equals(name)) {
                    hear(words);
                }
            }
        }
    }

    private void hear(String[] words) {
        if (words[0].equals("REFUSED")) {
            refused.add(words[2]);
            return;
        }
        Caller caller = callers.get(words[2]);
        assertThat(caller).as("who waits, of %s", String.join(" ", words)).isNotNull();
        assertThat(held.put(Long.parseLong(words[3]), new Holder(caller, null)))
                .as("a token twice")
                .isNull();
        served.add(caller);
        waiting--;
    }

    /** The shares of the served callers, in the order of their grants. */
    List<String> served() {
        return served.stream().map(caller -> caller.caller().share()).toList();
    }

    /** The same, with spaces between, and {@code -} for none. */
    String order() {
        return String.join(
                " ",
                served().stream().map(share -> share.isEmpty() ? "-" : share).toList());
    }

    /**
     * Of any two callers, the one that is first by the rules was granted its permit first. A process that stands still for seconds is
     * overtaken, so the test must be {@linkplain io.dbsemaphore.testing.measurement.Measured measured}.
     */
    void assertByTheRules() {
        assertThat(refused).as("refused").isEmpty();
        Measurement.check(
                () -> assertThat(labels(served)).as("the order of %s", name).isEqualTo(labels(expected)));
    }

    private static List<String> labels(List<Caller> order) {
        return order.stream()
                .map(caller -> caller.caller().share() + "#" + caller.caller().number())
                .toList();
    }

    /** Between any two of these grants. */
    static void assertShared(List<String> order, List<String> shares) {
        IntStream.range(0, order.size())
                .forEach(begin -> assertThat(ShareCallers.distance(
                                order.subList(begin, order.size()),
                                shares,
                                share -> ShareCallersProcess.WEIGHTS.getOrDefault(share, 1)))
                        .as("by what is promised, from grant %d on, in %s", begin, order)
                        .isLessThanOrEqualTo(1 + 1e-9));
    }
}
