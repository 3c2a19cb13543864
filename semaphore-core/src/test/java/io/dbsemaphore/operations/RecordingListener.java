package io.dbsemaphore.operations;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.SemaphoreListener;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Remembers what it heard, and on which thread. */
final class RecordingListener implements SemaphoreListener {

    /** @param of the external id; for a refusal, which need not have one, the names */
    record Event(String kind, String of, String thread) {}

    private final List<Event> events = new CopyOnWriteArrayList<>();

    /** The recorded events of this kind, in order. */
    List<Event> of(String kind) {
        return events.stream().filter(event -> event.kind().equals(kind)).toList();
    }

    /** Of what it heard this kind of event. */
    List<String> subjects(String kind) {
        return of(kind).stream().map(Event::of).toList();
    }

    @Override
    public void acquired(PermitGrant grant, Duration waited) {
        hear("acquired", grant.externalId());
    }

    @Override
    public void refused(AcquireRequest request, List<PermitShortage> shortages, Duration waited) {
        hear("refused", String.join(",", request.permits().keySet()));
    }

    @Override
    public void released(String externalId) {
        hear("released", externalId);
    }

    @Override
    public void expired(String externalId) {
        hear("expired", externalId);
    }

    @Override
    public void lost(PermitGrant grant) {
        hear("lost", grant.externalId());
    }

    @Override
    public void forced(String externalId, String releasedBy, String reason) {
        hear("forced", externalId + " by " + releasedBy + ": " + reason);
    }

    private void hear(String kind, String of) {
        events.add(new Event(kind, of, Thread.currentThread().getName()));
    }
}
