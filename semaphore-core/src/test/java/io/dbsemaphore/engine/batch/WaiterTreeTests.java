package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.line.Arrival;
import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.Demand;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.Waiter;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class WaiterTreeTests {

    private final WaiterTree queue = new WaiterTree();

    /** Compares the queue with a sorted map whose values are summed one by one. */
    @Test
    void findsTheFirstAcquireAndTheDemandAhead() {
        Random random = new Random(7);
        TreeMap<Long, Acquire> expected = new TreeMap<>();
        for (int step = 0; step < 5_000; step++) {
            long ticket = 1L + random.nextInt(400);
            Acquire known = expected.remove(ticket);
            if (known == null) {
                Acquire added = acquire(ticket);
                expected.put(ticket, added);
                queue.add(added, Ask.of((int) ticket));
            } else {
                assertThat(queue.remove(known)).isEqualTo(true);
                assertThat(queue.remove(known)).isEqualTo(false);
            }
            long upTo = 1L + random.nextInt(402);
            assertThat(queue.demandAhead(acquire(upTo))).isEqualTo(demand(expected.headMap(upTo)));
            assertThat(queue.after(acquire(upTo)))
                    .isEqualTo(Optional.ofNullable(expected.higherEntry(upTo))
                            .map(Map.Entry::getValue)
                            .orElse(null));
            assertThat(queue.firstOfOneSemaphore())
                    .isEqualTo(expected.values().stream()
                            .filter(each -> !each.isOfSeveral())
                            .findFirst()
                            .orElse(null));
            assertThat(queue.first())
                    .isEqualTo(expected.isEmpty() ? null : expected.firstEntry().getValue());
            assertThat(queue.isEmpty()).isEqualTo(expected.isEmpty());
            assertThat(queue.toLocal()).isEqualTo(local(expected));
            Acquire earliest = queue.earliest();
            assertThat(
                            earliest == null
                                    ? Long.MAX_VALUE
                                    : earliest.place().at()
                                            + earliest.position().headStart())
                    .isEqualTo(queue.toLocal().since())
                    .isEqualTo(queue.since());
        }
        List<Acquire> all = new ArrayList<>();
        for (Acquire next = queue.first(); next != null; next = queue.after(next)) {
            all.add(next);
        }
        assertThat(all).containsExactlyElementsOf(expected.values());
    }

    /** Each batch tells other instances of the first. */
    @Measured
    @Test
    void findsTheFirstWithoutALookAtAllCallersOfSeveralSemaphores() {
        WaiterTree many = new WaiterTree();
        LongStream.rangeClosed(1, 20_000).forEach(i -> many.add(acquire(3 * i), Ask.of(1)));

        long start = System.nanoTime();
        IntStream.range(0, 40_000)
                .forEach(i -> assertThat(many.toLocal().first()).hasSize(LineHead.MAX_OF_SEVERAL));

        Duration took = Duration.ofNanos(System.nanoTime() - start);
        Measurement.check(() -> assertThat(took).isLessThan(Duration.ofSeconds(2)));
    }

    /** Sixteen callers at most, eight of them of several semaphores, in order. */
    private static LineHead local(Map<Long, Acquire> acquires) {
        List<Waiter> first = new ArrayList<>();
        acquires.forEach((ticket, acquire) -> {
            boolean several = acquire.isOfSeveral();
            if (first.size() < 16
                    && (!several || first.stream().filter(Waiter::ofSeveral).count() < 8)) {
                first.add(new Waiter(acquire.place(), Ask.of(ticket.intValue()), several, headStart(ticket)));
            }
        });
        long since = acquires.keySet().stream()
                .mapToLong(ticket -> ticket / 2 + headStart(ticket))
                .min()
                .orElse(Long.MAX_VALUE);
        return new LineHead(first, acquires.size(), since);
    }

    private static Demand demand(Map<Long, Acquire> acquires) {
        long all = acquires.keySet().stream().mapToLong(each -> each).sum();
        long ofSeveral = acquires.entrySet().stream()
                .filter(each -> each.getValue().isOfSeveral())
                .mapToLong(Map.Entry::getKey)
                .sum();
        return new Demand(all, ofSeveral, acquires.size());
    }

    /** The first ones came last. */
    private static long headStart(long ticket) {
        return ticket < 200 ? 500 : 0;
    }

    private static Acquire acquire(long ticket) {
        Map<String, Integer> permits = ticket % 3 == 0 ? Map.of("backup", 1, "network", 1) : Map.of("backup", 1);
        AcquireCommand command = new AcquireCommand("id", false, true, permits, false, null, "test", null, null);
        Duration headStart = Duration.of(headStart(ticket), ChronoUnit.MICROS);
        Acquire acquire = WorkQueueFixture.acquire(
                command, true, Deadline.in(Duration.ofMinutes(1)), headStart, QueueClock.SYSTEM);
        acquire.setTicket(ticket);
        acquire.moveTo(acquire.position().with(new Arrival(0, ticket / 2 + headStart(ticket), true)));
        acquire.moveTo(acquire.position().joined());
        return acquire;
    }
}
