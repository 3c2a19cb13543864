package io.dbsemaphore.samples.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.testing.PeakCounter;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Work that is under way until the test lets it end. It is counted over all instances, by its kind: the item up to its first
 * colon, and to each further one. Prints what begins and ends.
 */
public final class CountedWork {

    private static final long LONGEST_SECONDS = 120;
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss.SSS", Locale.ROOT);

    private final Map<String, Kind> kinds = new ConcurrentHashMap<>();

    /** Does the work of an instance. */
    public void run(String instance, String item) {
        List<Kind> all = kinds(item);
        Kind first = all.get(0);
        all.forEach(kind -> kind.counter.enter());
        print(instance, "%s begins, %d under way".formatted(item, first.counter.current()));
        try {
            if (!first.end.await(LONGEST_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("The test has not ended " + item);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted: " + item, e);
        } finally {
            print(instance, item + " ends");
            all.forEach(kind -> kind.counter.leave());
        }
        first.done.add(item);
    }

    /** Prints a line with the time. */
    static void print(String instance, String event) {
        System.out.printf("%s  %-10s  %s%n", TIME.format(LocalTime.now()), instance, event);
    }

    /**
     * Waits until as much of a kind is under way as its limit allows and the rest does what it must, and fails as soon as
     * more is under way.
     */
    public void awaitFull(String kind, int limit, Callable<Boolean> rest) {
        await().atMost(Instances.SOON)
                .failFast("More than %d of '%s' at a time".formatted(limit, kind), () -> peak(kind) > limit)
                .until(() -> underWay(kind) == limit && rest.call());
        assertThat(underWay(kind)).isEqualTo(limit);
    }

    /** Waits until so many items of a kind are done. */
    public void awaitDone(String kind, int items) {
        await().atMost(Instances.SOON).until(() -> done(kind).size() >= items);
    }

    /** How much of a kind is under way. */
    public int underWay(String kind) {
        return kind(kind).counter.current();
    }

    /** How much of a kind was ever under way at once. */
    public int peak(String kind) {
        return kind(kind).counter.peak();
    }

    /** The items of a kind that are done. */
    public List<String> done(String kind) {
        return List.copyOf(kind(kind).done);
    }

    /** Lets work of a kind end, and all that begins later. */
    public void end(String kind) {
        kind(kind).end.countDown();
    }

    void endAll() {
        kinds.values().forEach(kind -> kind.end.countDown());
    }

    /** The kinds of an item: all that it begins with, up to a colon. */
    private List<Kind> kinds(String item) {
        List<Kind> found = new ArrayList<>();
        for (int colon = item.indexOf(':'); colon >= 0; colon = item.indexOf(':', colon + 1)) {
            found.add(kind(item.substring(0, colon)));
        }
        found.add(kind(item));
        return found;
    }

    private Kind kind(String name) {
        return kinds.computeIfAbsent(name, key -> new Kind());
    }

    private static final class Kind {

        private final PeakCounter counter = new PeakCounter();
        private final CountDownLatch end = new CountDownLatch(1);
        private final Queue<String> done = new ConcurrentLinkedQueue<>();
    }
}
