package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.DeadInstance;
import io.dbsemaphore.domain.ReclaimedRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs the crash of an instance: one warning for all requests that were reclaimed from it together. */
public final class DeadInstanceLog {

    private static final Logger log = LoggerFactory.getLogger(DeadInstanceLog.class);

    private DeadInstanceLog() {}

    /** Warns of the dead instances from which requests were reclaimed. To be called after the commit. */
    public static void warn(Collection<ReclaimedRequest> reclaimed) {
        if (reclaimed.isEmpty()) {
            return;
        }
        Map<Long, List<ReclaimedRequest>> byInstance = new TreeMap<>();
        reclaimed.forEach(each -> each.deadInstance()
                .ifPresent(dead -> byInstance
                        .computeIfAbsent(dead.id(), id -> new ArrayList<>())
                        .add(each)));
        byInstance.values().forEach(DeadInstanceLog::warnOfOne);
    }

    private static void warnOfOne(List<ReclaimedRequest> reclaimed) {
        SortedSet<String> names = new TreeSet<>();
        reclaimed.forEach(each -> names.addAll(each.permits().keySet()));
        DeadInstance dead = reclaimed.get(0).deadInstance().orElseThrow();
        log.warn(
                "Reclaimed the permits of {} request(s) on {}: their instance {} has sent no heartbeat for {}. It was"
                        + " killed, was frozen, or lost its database; if its work still runs, it no longer counts against"
                        + " the limit",
                reclaimed.size(),
                names,
                dead.name().map(name -> "'" + name + "' (" + dead.id() + ")").orElse("" + dead.id()),
                dead.sinceHeartbeat()
                        .map(DeadInstanceLog::seconds)
                        .orElse("a time unknown, since it is not registered"));
    }

    private static String seconds(Duration duration) {
        return Math.round(duration.toMillis() / 100.0) / 10.0 + " s";
    }
}
