package io.dbsemaphore.maintenance;

import io.dbsemaphore.SemaphoreListener;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** What a listener was told of grants that ended: {@code released ID}, {@code expired ID}, {@code forced ID by WHO: WHY}. */
final class Events implements SemaphoreListener {

    private final List<String> told = new CopyOnWriteArrayList<>();

    @Override
    public void released(String externalId) {
        told.add("released " + externalId);
    }

    @Override
    public void expired(String externalId) {
        told.add("expired " + externalId);
    }

    @Override
    public void forced(String externalId, String releasedBy, String reason) {
        told.add("forced %s by %s: %s".formatted(externalId, releasedBy, reason));
    }

    /** What was told of grants with this external id, or with one that begins so. */
    List<String> of(String externalId) {
        return told.stream()
                .filter(event -> event.split(" ", -1)[1].startsWith(externalId))
                .toList();
    }

    void clear() {
        told.clear();
    }
}
