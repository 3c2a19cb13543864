package io.dbsemaphore.testing.node;

import io.dbsemaphore.spi.SemaphoreListener;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;

/** Remembers what it heard, and on which thread. */
public final class RecordingListener implements SemaphoreListener {

    /** @param of the external id; for a refusal, which need not have one, the names */
    public record Event(String kind, String of, String thread) {}

    private static final Set<String> ENDINGS = Set.of("released", "expired", "forced");

    private final Queue<Event> events = new ConcurrentLinkedQueue<>();
    private final LongAdder decided = new LongAdder();

    /** The recorded events of this kind, in order. */
    public List<Event> of(String kind) {
        return events.stream().filter(event -> event.kind().equals(kind)).toList();
    }

    /** Of what it heard this kind of event. */
    public List<String> subjects(String kind) {
        return of(kind).stream().map(Event::of).toList();
    }

    /** What ended, of grants with this external id or one that begins so: {@code released ID}, {@code expired ID}, {@code forced ID …}. */
    public List<String> endings(String externalId) {
        return events.stream()
                .filter(event -> ENDINGS.contains(event.kind()) && event.of().startsWith(externalId))
                .map(event -> event.kind() + " " + event.of())
                .toList();
    }

    /** How many acquires were decided, from the beginning. */
    public long decided() {
        return decided.sum();
    }

    /** Forgets what it heard. */
    public void clear() {
        events.clear();
    }

    @Override
    public void acquired(Acquired event) {
        hear("acquired", event.grant().externalId());
    }

    @Override
    public void refused(Refused event) {
        hear("refused", String.join(",", event.request().permits().keySet()));
    }

    @Override
    public void released(Released event) {
        hear("released", event.externalId());
    }

    @Override
    public void expired(Expired event) {
        hear("expired", event.externalId());
    }

    @Override
    public void lost(Lost event) {
        hear("lost", event.grant().externalId());
    }

    @Override
    public void forced(Forced event) {
        hear("forced", event.externalId() + " by " + event.releasedBy() + ": " + event.reason());
    }

    @Override
    public void decided(Decided event) {
        decided.add(event.acquires());
    }

    private void hear(String kind, String of) {
        events.add(new Event(kind, of, Thread.currentThread().getName()));
    }
}
