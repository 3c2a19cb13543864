package io.dbsemaphore.boot.actuate;

import io.dbsemaphore.CapacityChange;
import io.dbsemaphore.HolderInstance;
import io.dbsemaphore.PermitHolder;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.SemaphoreStatus;
import java.security.Principal;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/**
 * Actuator endpoint {@code semaphores}: what they are at and who holds them; and, where that is switched on, changes of
 * their capacities and forced releases. These are audited, under the name of the principal.
 */
@Endpoint(id = "semaphores")
public class SemaphoresEndpoint {

    private static final String NOBODY = "actuator, without a principal";
    private static final String NO_REASON = "no reason given";

    private final SemaphoreAdmin admin;
    private final SemaphoreEndpointProperties properties;

    SemaphoresEndpoint(SemaphoreAdmin admin, SemaphoreEndpointProperties properties) {
        this.admin = admin;
        this.properties = properties;
    }

    /** All semaphores as they stand. */
    @ReadOperation
    public SemaphoresDescriptor semaphores() {
        return new SemaphoresDescriptor(
                admin.list().stream().map(SemaphoreDescriptor::of).toList());
    }

    /** One semaphore with its holders and its changes; null when it does not exist. */
    @ReadOperation
    public @Nullable SemaphoreDetails semaphore(@Selector String name) {
        return admin.find(name)
                .map(status -> new SemaphoreDetails(
                        SemaphoreDescriptor.of(status),
                        admin.holders(name).stream().map(HolderDescriptor::of).toList(),
                        admin.capacityHistory(name).stream()
                                .map(HistoryDescriptor::of)
                                .toList()))
                .orElse(null);
    }

    /**
     * Changes a capacity, for all instances.
     *
     * @throws io.dbsemaphore.SemaphoreNotFoundException when it does not exist
     */
    @WriteOperation
    public SemaphoreDescriptor setCapacity(
            SecurityContext securityContext, @Selector String name, int capacity, @Nullable String reason) {
        if (!properties.setCapacityEnabled()) {
            throw new OperationDisabledException("semaphore.endpoint.set-capacity-enabled");
        }
        admin.setCapacity(name, capacity, who(securityContext), why(reason));
        return admin.find(name).map(SemaphoreDescriptor::of).orElseThrow();
    }

    /**
     * Takes the permits of a request away from its holder, those of other semaphores, too.
     *
     * @return null when the request holds nothing of this semaphore
     */
    @DeleteOperation
    public @Nullable ForcedRelease forceRelease(
            SecurityContext securityContext,
            @Selector String name,
            @Selector String externalId,
            @Nullable String reason) {
        if (!properties.forceReleaseEnabled()) {
            throw new OperationDisabledException("semaphore.endpoint.force-release-enabled");
        }
        return admin.holders(name).stream()
                        .anyMatch(holder -> holder.externalId().equals(externalId))
                ? new ForcedRelease(externalId, admin.forceRelease(externalId, who(securityContext), why(reason)))
                : null;
    }

    private static String who(SecurityContext securityContext) {
        Principal principal = securityContext.getPrincipal();
        return principal == null ? NOBODY : principal.getName();
    }

    private static String why(@Nullable String reason) {
        return reason == null || reason.isBlank() ? NO_REASON : reason;
    }

    /** All semaphores. */
    public record SemaphoresDescriptor(List<SemaphoreDescriptor> semaphores) implements OperationResponseBody {}

    /** One semaphore. */
    public record SemaphoreDescriptor(String name, int capacity, long held, long available, long requests)
            implements OperationResponseBody {

        static SemaphoreDescriptor of(SemaphoreStatus status) {
            return new SemaphoreDescriptor(
                    status.name(), status.capacity(), status.held(), status.available(), status.requests());
        }
    }

    /** One semaphore, who holds it, and how its capacity was changed, newest first. */
    public record SemaphoreDetails(
            SemaphoreDescriptor semaphore, List<HolderDescriptor> holders, List<HistoryDescriptor> capacityHistory)
            implements OperationResponseBody {}

    /** A change of the capacity, or a forced release, which has no {@code from} and {@code to}. */
    public record HistoryDescriptor(
            String name,
            @Nullable Integer from,
            @Nullable Integer to,
            io.dbsemaphore.@Nullable ForcedRelease forcedRelease,
            String changedBy,
            String reason,
            Instant changedAt) {

        static HistoryDescriptor of(CapacityChange change) {
            boolean forced = change.forcedRelease().isPresent();
            return new HistoryDescriptor(
                    change.name(),
                    forced ? null : change.from(),
                    forced ? null : change.to(),
                    change.forcedRelease().orElse(null),
                    change.changedBy(),
                    change.reason(),
                    change.changedAt());
        }
    }

    /** A holder of permits; without an expiry when held until released, without an instance when none keeps it alive. */
    public record HolderDescriptor(
            String externalId,
            String owner,
            int count,
            long fencingToken,
            Instant acquiredAt,
            @Nullable Instant expiresAt,
            @Nullable InstanceDescriptor instance) {

        static HolderDescriptor of(PermitHolder holder) {
            return new HolderDescriptor(
                    holder.externalId(),
                    holder.owner(),
                    holder.count(),
                    holder.fencingToken(),
                    holder.acquiredAt(),
                    holder.expiresAt().orElse(null),
                    holder.instance().map(InstanceDescriptor::of).orElse(null));
        }
    }

    /** The instance that keeps permits alive. Its id is a text, since a number that large is rounded by JavaScript. */
    public record InstanceDescriptor(
            String id, @Nullable String name, @Nullable Instant heartbeatAt, boolean alive) {

        static InstanceDescriptor of(HolderInstance instance) {
            return new InstanceDescriptor(
                    String.valueOf(instance.id()),
                    instance.name().orElse(null),
                    instance.heartbeatAt().orElse(null),
                    instance.alive());
        }
    }

    /** What came of a forced release. */
    public record ForcedRelease(String externalId, ReleaseOutcome outcome) implements OperationResponseBody {}
}
