package io.dbsemaphore.boot.actuate;

import io.dbsemaphore.admin.InstanceStatus;
import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreAdmin.PermitUse;
import io.dbsemaphore.admin.SemaphoreAdmin.Reclaim;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingInstance;
import io.dbsemaphore.boot.actuate.SemaphoresEndpoint.HistoryDescriptor;
import io.dbsemaphore.boot.actuate.SemaphoresEndpoint.HolderDescriptor;
import io.dbsemaphore.boot.actuate.SemaphoresEndpoint.SemaphoreDescriptor;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.convert.DurationStyle;

/** The bounded views of the endpoint over HTTP, with the time of the database that they refer to. */
final class SemaphoreViews {

    private static final int HISTORY = 100;
    private static final Duration MAX_PERIOD = Duration.ofDays(366);

    /** No request is older. */
    private static final Instant FIRST = Instant.EPOCH;

    /** A year below what MySQL can store, since drivers convert to other time zones and round. */
    private static final Instant LAST = Instant.parse("9999-01-01T00:00:00Z");

    private final SemaphoreAdmin admin;

    SemaphoreViews(SemaphoreAdmin admin) {
        this.admin = admin;
    }

    /** The view of a name; null if it is about a semaphore that does not exist. The parameters are those of the endpoint. */
    @Nullable Object view(
            String view,
            @Nullable String name,
            @Nullable String containing,
            @Nullable String after,
            @Nullable String until,
            @Nullable String period,
            @Nullable String limit) {
        return switch (view) {
            case "overview" -> overview();
            case "semaphore" ->
                semaphore(
                        required(name),
                        containing == null ? "" : containing,
                        parsed("after", after, Long::valueOf, "0", 0L),
                        parsed("limit", limit, Integer::valueOf, "100", 100));
            case "requests" ->
                requests(
                        required(name),
                        until == null ? null : parsed("until", until, Instant::parse, "2026-01-31T12:00:00Z", FIRST),
                        parsed("period", period, DurationStyle::detectAndParse, "15m", Duration.ofHours(1)),
                        parsed("limit", limit, Integer::valueOf, "100", 500));
            case "instances" -> instances();
            default ->
                throw new IllegalArgumentException(
                        "There is no view '%s'. Views are overview, semaphore, requests and instances".formatted(view));
        };
    }

    private static String required(@Nullable String name) {
        if (name == null) {
            throw new IllegalArgumentException("The parameter 'name' is missing");
        }
        return name;
    }

    /** The value of a parameter, which arrives as text. An invalid one is refused with its name and an example. */
    private static <T> T parsed(
            String name, @Nullable String value, Function<String, T> parser, String example, T fallback) {
        try {
            return value == null ? fallback : parser.apply(value);
        } catch (IllegalArgumentException | DateTimeException invalid) {
            throw new IllegalArgumentException(
                    "The parameter '%s' is invalid: '%s'. An example is %s".formatted(name, value, example), invalid);
        }
    }

    private OverviewDescriptor overview() {
        return new OverviewDescriptor(
                admin.now(), admin.list().stream().map(SemaphoreDescriptor::of).toList());
    }

    private @Nullable SemaphorePageDescriptor semaphore(String name, String containing, long after, int limit) {
        return admin.find(name)
                .map(status -> new SemaphorePageDescriptor(
                        admin.now(),
                        SemaphoreDescriptor.of(status),
                        described(admin.holders(name, containing, after, limit)),
                        admin.waiting(name).stream().map(WaitingDescriptor::of).toList(),
                        admin.capacityHistory(name, HISTORY).stream()
                                .map(HistoryDescriptor::of)
                                .toList(),
                        admin.reclaims(name, HISTORY).stream()
                                .map(ReclaimDescriptor::of)
                                .toList()))
                .orElse(null);
    }

    /** With the instances of the owners of grants that no instance keeps alive: all that is known of the process of such a holder. */
    private List<HolderDescriptor> described(List<PermitHolder> holders) {
        Map<String, InstanceStatus> byName = new HashMap<>();
        if (holders.stream().anyMatch(holder -> holder.instance().isEmpty())) {
            admin.instances().forEach(instance -> byName.putIfAbsent(instance.name(), instance)); // the last started
        }
        return holders.stream()
                .map(holder ->
                        HolderDescriptor.of(holder, holder.instance().isEmpty() ? byName.get(holder.owner()) : null))
                .toList();
    }

    private RequestsDescriptor requests(String name, @Nullable Instant until, Duration period, int limit) {
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
        return new RequestsDescriptor(
                now,
                from,
                to,
                admin.requests(name, from, to, limit).stream()
                        .map(UseDescriptor::of)
                        .toList());
    }

    private InstancesDescriptor instances() {
        return new InstancesDescriptor(
                admin.now(),
                admin.instances().stream().map(InstanceStatusDescriptor::of).toList());
    }

    /** The view {@code overview}: all semaphores, ordered by name. */
    record OverviewDescriptor(Instant asOf, List<SemaphoreDescriptor> semaphores) implements OperationResponseBody {}

    /**
     * The view {@code semaphore}.
     *
     * @param holders a page of the holders, ordered by fencing token
     * @param waiting the instances with waiting callers, the one whose caller has waited longest first
     * @param capacityHistory what operators did, the latest entries of the audit, newest first
     * @param reclaims what the library took back, the latest first
     */
    record SemaphorePageDescriptor(
            Instant asOf,
            SemaphoreDescriptor semaphore,
            List<HolderDescriptor> holders,
            List<WaitingDescriptor> waiting,
            List<HistoryDescriptor> capacityHistory,
            List<ReclaimDescriptor> reclaims)
            implements OperationResponseBody {}

    /**
     * Permits that the library took back without their holder.
     *
     * @param reason why, as a sentence
     */
    record ReclaimDescriptor(String externalId, String owner, int permits, String reason, Instant reclaimedAt) {

        private static ReclaimDescriptor of(Reclaim reclaim) {
            return new ReclaimDescriptor(
                    reclaim.externalId(), reclaim.owner(), reclaim.permits(), reclaim.reason(), reclaim.reclaimedAt());
        }
    }

    /**
     * The waiting callers of an instance.
     *
     * @param since when the caller that has waited longest was first refused
     */
    record WaitingDescriptor(String id, String name, Instant since, int callers) {

        private static WaitingDescriptor of(WaitingInstance waiting) {
            return new WaitingDescriptor(
                    String.valueOf(waiting.instance()), waiting.name(), waiting.since(), waiting.callers());
        }
    }

    /**
     * The view {@code requests}.
     *
     * @param requests the requests that held permits in it, the last acquired first
     */
    record RequestsDescriptor(Instant asOf, Instant from, Instant to, List<UseDescriptor> requests)
            implements OperationResponseBody {}

    /**
     * A request that holds or held permits.
     *
     * @param releasedAt when they were released; null if they are held
     * @param expiresAt when they expire; null if they are held until released
     */
    record UseDescriptor(
            String externalId,
            String owner,
            int count,
            long fencingToken,
            Instant acquiredAt,
            @Nullable Instant releasedAt,
            @Nullable Instant expiresAt) {

        static UseDescriptor of(PermitUse use) {
            return new UseDescriptor(
                    use.externalId(),
                    use.owner(),
                    use.count(),
                    use.fencingToken(),
                    use.acquiredAt(),
                    use.releasedAt().orElse(null),
                    use.expiresAt().orElse(null));
        }
    }

    /** The view {@code instances}: all registered instances, the last started first. */
    record InstancesDescriptor(Instant asOf, List<InstanceStatusDescriptor> instances)
            implements OperationResponseBody {}

    /**
     * A registered instance.
     *
     * @param id its id; a string, since JavaScript would round so large a number
     * @param alive whether the last heartbeat is recent enough
     * @param reclaimableAt when others may take back what it keeps alive, unless there is a heartbeat before
     * @param requests how many requests that hold permits it keeps alive
     */
    record InstanceStatusDescriptor(
            String id,
            String name,
            Instant startedAt,
            Instant heartbeatAt,
            boolean alive,
            @Nullable Instant reclaimableAt,
            long requests) {

        static InstanceStatusDescriptor of(InstanceStatus status) {
            return new InstanceStatusDescriptor(
                    String.valueOf(status.id()),
                    status.name(),
                    status.startedAt(),
                    status.heartbeatAt(),
                    status.alive(),
                    status.reclaimableAt().orElse(null),
                    status.requests());
        }
    }
}
