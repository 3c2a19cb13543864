package io.dbsemaphore.boot.actuate;

import io.dbsemaphore.admin.InstanceStatus;
import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreAdmin.PermitUse;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.admin.SemaphoreStatus.Since;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingCaller;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingInstance;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
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

    /** The period whose grants are counted. */
    private static final Duration RATE = Duration.ofMinutes(1);

    private static final Duration MAX_PERIOD = Duration.ofDays(366);

    /** No request is older. */
    private static final Instant FIRST = Instant.EPOCH;

    /** A year before the last instant of MySQL, since drivers convert to other time zones and round. */
    private static final Instant LAST = Instant.parse("9999-01-01T00:00:00Z");

    /**
     * The semaphores after a name, with the time of the database, whether there are more, and how many acquires of all semaphores were
     * granted.
     */
    Map<String, Object> semaphores(String containing, String after, int limit) {
        Instant now = admin.now();
        List<SemaphoreStatus> page = admin.list(containing, after, limit);
        Map<String, Since> since =
                admin.since(containing, after, limit).stream().collect(Collectors.toMap(Since::name, each -> each));
        boolean truncated = page.size() == limit
                && !admin.list(containing, page.get(limit - 1).name(), 1).isEmpty();
        Map<String, Object> view = asOf(
                now,
                Map.of(
                        "semaphores",
                        page.stream()
                                .map(status -> with(since.get(status.name()), status))
                                .toList()));
        view.put("granted", admin.granted(RATE));
        view.put("truncated", truncated);
        return view;
    }

    private static Map<String, Object> with(@Nullable Since since, SemaphoreStatus status) {
        Map<String, Object> shown = object(status);
        if (since != null) {
            shown.putAll(object(since));
        }
        return shown;
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
        view.put("callers", objects(admin.waitingCallers(name, HISTORY)));
        view.put("shares", objects(admin.shares(name, HISTORY)));
        view.put("reclaims", objects(admin.reclaims(name, HISTORY)));
        return view;
    }

    /** Adds to each grant that no instance keeps alive the instance with its owner's name, the only hint at the holder's process. */
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
                        instance.remove("startedAt"); // as for an instance that keeps it alive
                        shown.put("ownerInstance", instance);
                    }
                    return shown;
                })
                .toList();
    }

    /** The requests that held permits of a semaphore in a period, with the time of the database. By default the period ends now. */
    Map<String, Object> requests(String name, @Nullable Instant until, Duration length, int limit) {
        Period period = period(until, length);
        Map<String, Object> view = period.view();
        view.put("requests", objects(admin.requests(name, period.from(), period.to(), limit)));
        return view;
    }

    /** How many permits of a semaphore were held in a period. */
    Map<String, Object> history(String name, @Nullable Instant until, Duration length) {
        SemaphoreStatus status = admin.find(name).orElseThrow(() -> noSemaphore(name));
        Period period = period(until, length);
        List<PermitUse> uses = admin.requests(name, period.from(), period.to(), SemaphoreAdmin.MAX_LIMIT);
        HeldCurve curve = new HeldCurve(
                uses,
                uses.size() < SemaphoreAdmin.MAX_LIMIT,
                HeldCurve.capacities(admin.capacityHistory(name, HISTORY), status.capacity()),
                period.from(),
                period.to());
        Map<String, Object> view = period.view();
        view.put("since", curve.since());
        curve.fullSince().ifPresent(since -> view.put("fullSince", since));
        Instant lately = period.to().minus(RATE);
        view.put(
                "granted",
                uses.stream().filter(use -> use.acquiredAt().isAfter(lately)).count());
        view.put("steps", curve.steps().stream().map(SemaphoreViews::step).toList());
        return view;
    }

    private static Map<String, Object> step(HeldCurve.Step step) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("at", step.at());
        shown.put("held", step.held());
        shown.put("capacity", step.capacity());
        return shown;
    }

    /** A period by the database's clock, and that clock's current time. */
    private record Period(Instant now, Instant from, Instant to) {

        Map<String, Object> view() {
            Map<String, Object> view = asOf(now, Map.of("from", from));
            view.put("to", to);
            return view;
        }
    }

    private Period period(@Nullable Instant until, Duration length) {
        if (length.isNegative() || length.compareTo(MAX_PERIOD) > 0) {
            throw new IllegalArgumentException(
                    "The parameter 'period' must be between 0 and %d days: %s".formatted(MAX_PERIOD.toDays(), length));
        }
        if (until != null && (until.isBefore(FIRST) || until.isAfter(LAST))) {
            throw new IllegalArgumentException(
                    "The parameter 'until' must be between %s and %s: %s".formatted(FIRST, LAST, until));
        }
        Instant now = admin.now();
        Instant to = until == null ? now : until;
        return new Period(now, to.minus(length), to);
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

    /** A record as a JSON object. A waiting instance or caller has the same names as other instances, and a forced release has no capacities. */
    static Map<String, Object> object(Record shown) {
        Map<String, Object> object = new LinkedHashMap<>();
        for (RecordComponent component : shown.getClass().getRecordComponents()) {
            Object value = ObjectUtils.unwrapOptional(ReflectionUtils.invokeMethod(component.getAccessor(), shown));
            String name = component.getName();
            if (name.equals("id")
                    || (name.equals("instance")
                            && (shown instanceof WaitingInstance || shown instanceof WaitingCaller))) {
                object.put("id", String.valueOf(value));
            } else if (value != null) {
                Object plain = value instanceof Duration duration ? duration.toMillis() : value;
                object.put(name, value instanceof Record nested ? object(nested) : plain);
            }
        }
        if (object.containsKey("forcedRelease")) {
            object.keySet().removeAll(Set.of("from", "to"));
        }
        return object;
    }
}
