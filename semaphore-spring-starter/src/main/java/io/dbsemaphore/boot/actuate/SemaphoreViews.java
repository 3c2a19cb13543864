package io.dbsemaphore.boot.actuate;

import io.dbsemaphore.admin.InstanceStatus;
import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingInstance;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.util.ObjectUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.server.ResponseStatusException;

/**
 * The answers of the endpoint: the records of {@link SemaphoreAdmin} as JSON objects, with the same names. Empty values are left out, and
 * ids are texts, since JavaScript would round such large numbers.
 */
record SemaphoreViews(SemaphoreAdmin admin) {

    private static final int HISTORY = 100;
    private static final Duration MAX_PERIOD = Duration.ofDays(366);

    /** No request is older. */
    private static final Instant FIRST = Instant.EPOCH;

    /** A year before the last instant of MySQL, since drivers convert to other time zones and round. */
    private static final Instant LAST = Instant.parse("9999-01-01T00:00:00Z");

    /** The semaphores behind a name, with the time of the database, and whether there are more. */
    Map<String, Object> semaphores(String containing, String after, int limit) {
        Instant now = admin.now();
        List<SemaphoreStatus> page = admin.list(containing, after, limit);
        boolean truncated = page.size() == limit
                && !admin.list(containing, page.get(limit - 1).name(), 1).isEmpty();
        Map<String, Object> view = asOf(now, Map.of("semaphores", objects(page)));
        view.put("truncated", truncated);
        return view;
    }

    static ResponseStatusException noSemaphore(String name) {
        return new ResponseStatusException(
                HttpStatus.NOT_FOUND,
                "There is no semaphore named '%s'. Names are compared byte for byte; the endpoint without a name lists them"
                        .formatted(name));
    }

    /** All instances, with the time of the database. */
    Map<String, Object> instances() {
        return asOf(admin.now(), Map.of("instances", objects(admin.instances())));
    }

    /** A semaphore, some of its holders and the end of its history, with the time of the database. */
    Map<String, Object> semaphore(String name, String containing, long after, int limit) {
        SemaphoreStatus status = admin.find(name).orElseThrow(() -> noSemaphore(name));
        Map<String, Object> view = asOf(admin.now(), Map.of("semaphore", object(status)));
        view.put("holders", described(admin.holders(name, containing, after, limit)));
        view.put("capacityHistory", objects(admin.capacityHistory(name, HISTORY)));
        view.put("waiting", objects(admin.waiting(name)));
        view.put("reclaims", objects(admin.reclaims(name, HISTORY)));
        return view;
    }

    /** Adds to each grant that no instance keeps alive the instance with the name of its owner, the only hint at the holder's process. */
    private List<Map<String, Object>> described(List<PermitHolder> holders) {
        Map<String, InstanceStatus> byName = new HashMap<>();
        if (holders.stream().anyMatch(holder -> holder.instance().isEmpty())) {
            admin.instances().forEach(instance -> byName.putIfAbsent(instance.name(), instance)); // the last started
        }
        return holders.stream()
                .map(holder -> {
                    Map<String, Object> shown = object(holder);
                    InstanceStatus owner = holder.instance().isEmpty() ? byName.get(holder.owner()) : null;
                    if (owner != null) {
                        Map<String, Object> instance = object(owner);
                        instance.remove("startedAt"); // as of an instance that keeps it alive
                        shown.put("ownerInstance", instance);
                    }
                    return shown;
                })
                .toList();
    }

    /** The requests that held permits of a semaphore in a period, with the time of the database. By default the period ends now. */
    Map<String, Object> requests(String name, @Nullable Instant until, Duration period, int limit) {
        if (period.isNegative() || period.compareTo(MAX_PERIOD) > 0) {
            throw new IllegalArgumentException(
                    "The parameter 'period' must be between 0 and %d days: %s".formatted(MAX_PERIOD.toDays(), period));
        }
        if (until != null && (until.isBefore(FIRST) || until.isAfter(LAST))) {
            throw new IllegalArgumentException(
                    "The parameter 'until' must be between %s and %s: %s".formatted(FIRST, LAST, until));
        }
        Instant now = admin.now();
        Instant to = until == null ? now : until;
        Instant from = to.minus(period);
        Map<String, Object> view = asOf(now, Map.of("from", from));
        view.put("to", to);
        view.put("requests", objects(admin.requests(name, from, to, limit)));
        return view;
    }

    private static Map<String, Object> asOf(Instant now, Map<String, Object> shown) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("asOf", now);
        view.putAll(shown);
        return view;
    }

    private static List<Map<String, Object>> objects(List<? extends Record> records) {
        return records.stream().map(SemaphoreViews::object).toList();
    }

    /** A record as a JSON object. A waiting instance has the same names as other instances, and a forced release has no capacities. */
    static Map<String, Object> object(Record shown) {
        Map<String, Object> object = new LinkedHashMap<>();
        for (RecordComponent component : shown.getClass().getRecordComponents()) {
            Object value = ObjectUtils.unwrapOptional(ReflectionUtils.invokeMethod(component.getAccessor(), shown));
            String name = component.getName();
            if (name.equals("id") || (shown instanceof WaitingInstance && name.equals("instance"))) {
                object.put("id", String.valueOf(value));
            } else if (value != null) {
                object.put(name, value instanceof Record nested ? object(nested) : value);
            }
        }
        if (object.containsKey("forcedRelease")) {
            object.keySet().removeAll(Set.of("from", "to"));
        }
        return object;
    }
}
