package io.dbsemaphore.boot.actuate;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.InstanceStatus;
import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.PermitHolder.HolderInstance;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreName;
import io.dbsemaphore.admin.SemaphoreStatus;
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
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.util.ClassUtils;

/**
 * Actuator endpoint {@code semaphores}: shows the semaphores and their holders and, if enabled, changes capacities and
 * releases permits by force. Both write operations are audited with the name of the principal.
 */
@Endpoint(id = "semaphores")
public class SemaphoresEndpoint {

    private static final String ANONYMOUS = "anonymous";
    private static final String NO_REASON = "no reason given";

    private final SemaphoreAdmin admin;
    private final SemaphoreEndpointProperties properties;

    SemaphoresEndpoint(SemaphoreAdmin admin, SemaphoreEndpointProperties properties) {
        this.admin = admin;
        this.properties = properties;
    }

    /**
     * Lists all semaphores.
     *
     * @return the current state of all semaphores
     */
    @ReadOperation
    public SemaphoresDescriptor semaphores() {
        return new SemaphoresDescriptor(
                admin.list().stream().map(SemaphoreDescriptor::of).toList());
    }

    /**
     * Shows a semaphore with its holders and its audit.
     *
     * @param name the name of the semaphore
     * @return the details; null if it does not exist
     */
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
     * Changes the capacity of a semaphore, for all instances.
     *
     * @param securityContext the principal, for the audit
     * @param name the name of the semaphore
     * @param capacity the new capacity, at least 0
     * @param reason the reason, for the audit
     * @return the changed semaphore
     * @throws io.dbsemaphore.SemaphoreNotFoundException if it does not exist
     */
    @WriteOperation
    public SemaphoreDescriptor setCapacity(
            SecurityContext securityContext, @Selector String name, int capacity, @Nullable String reason) {
        if (!properties.setCapacityEnabled()) {
            throw OperationDisabledException.enabledBy("semaphore.endpoint.set-capacity-enabled");
        }
        admin.setCapacity(name, capacity, operator(securityContext), reasonOrNone(reason));
        return admin.find(name).map(SemaphoreDescriptor::of).orElseThrow();
    }

    /**
     * Releases all permits of a request by force, including those of other semaphores.
     *
     * @param securityContext the principal, for the audit
     * @param name the name of a semaphore that the request holds permits of
     * @param externalId the external id of the request
     * @param reason the reason, for the audit
     * @return the outcome; null if the request holds no permit of this semaphore
     */
    @DeleteOperation
    public @Nullable ForcedRelease forceRelease(
            SecurityContext securityContext,
            @Selector String name,
            @Selector String externalId,
            @Nullable String reason) {
        if (!properties.forceReleaseEnabled()) {
            throw OperationDisabledException.enabledBy("semaphore.endpoint.force-release-enabled");
        }
        return admin.holders(name).stream()
                        .anyMatch(holder -> holder.externalId().equals(externalId))
                ? new ForcedRelease(
                        externalId, admin.forceRelease(externalId, operator(securityContext), reasonOrNone(reason)))
                : null;
    }

    private static String operator(SecurityContext securityContext) {
        Principal user = AuthenticatedUser.of(securityContext);
        return user == null ? ANONYMOUS : shortened(user.getName().replaceAll("[\\p{Cc}\\p{Cs}]", "?"));
    }

    /** The subject of an X.509 certificate can be longer than what the audit has room for; its beginning is the most specific. */
    private static String shortened(String name) {
        if (name.length() <= SemaphoreName.MAX_LENGTH) {
            return name;
        }
        int end = SemaphoreName.MAX_LENGTH - 1;
        return name.substring(0, Character.isHighSurrogate(name.charAt(end - 1)) ? end - 1 : end) + "…";
    }

    private static String reasonOrNone(@Nullable String reason) {
        return reason == null || reason.isBlank() ? NO_REASON : reason;
    }

    /**
     * All semaphores.
     *
     * @param semaphores the semaphores, ordered by name
     */
    public record SemaphoresDescriptor(List<SemaphoreDescriptor> semaphores) implements OperationResponseBody {}

    /**
     * The current state of a semaphore.
     *
     * @param name the name
     * @param capacity how many permits may be held at once; 0 if it is paused
     * @param held how many permits are held
     * @param available how many permits could be acquired now
     * @param requests how many acquires hold permits
     * @param waiting how many callers of all instances wait
     */
    public record SemaphoreDescriptor(String name, int capacity, long held, long available, long requests, long waiting)
            implements OperationResponseBody {

        static SemaphoreDescriptor of(SemaphoreStatus status) {
            return new SemaphoreDescriptor(
                    status.name(),
                    status.capacity(),
                    status.held(),
                    status.available(),
                    status.requests(),
                    status.waiting());
        }
    }

    /**
     * A semaphore, its holders, and its audit.
     *
     * @param semaphore the current state
     * @param holders the holders, ordered by fencing token
     * @param capacityHistory the audit, newest entry first
     */
    public record SemaphoreDetails(
            SemaphoreDescriptor semaphore, List<HolderDescriptor> holders, List<HistoryDescriptor> capacityHistory)
            implements OperationResponseBody {}

    /**
     * A change of the capacity, or a forced release.
     *
     * @param name the name of the semaphore
     * @param from the capacity before; null for a forced release
     * @param to the capacity after; null for a forced release
     * @param forcedRelease the request that was released by force; null for a change of the capacity
     * @param changedBy the operator
     * @param reason the reason that the operator gave
     * @param changedAt the time of the change, by the database's clock
     */
    public record HistoryDescriptor(
            String name,
            @Nullable Integer from,
            @Nullable Integer to,
            CapacityChange.@Nullable ForcedRelease forcedRelease,
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

    /**
     * A holder of permits.
     *
     * @param externalId the external id of the request
     * @param owner the owner
     * @param count the number of permits
     * @param fencingToken the fencing token of the grant for this semaphore
     * @param acquiredAt when the permits were acquired, by the database's clock
     * @param expiresAt when they expire unless renewed; null if they are held until released
     * @param instance the instance that keeps the grant alive; null if none does
     * @param ownerInstance the registered instance that is named like the owner, where none keeps the grant alive; null if there is
     *     none, or if it was not looked for
     */
    public record HolderDescriptor(
            String externalId,
            String owner,
            int count,
            long fencingToken,
            Instant acquiredAt,
            @Nullable Instant expiresAt,
            @Nullable InstanceDescriptor instance,
            @Nullable InstanceDescriptor ownerInstance) {

        static HolderDescriptor of(PermitHolder holder) {
            return of(holder, null);
        }

        static HolderDescriptor of(PermitHolder holder, @Nullable InstanceStatus owner) {
            return new HolderDescriptor(
                    holder.externalId(),
                    holder.owner(),
                    holder.count(),
                    holder.fencingToken(),
                    holder.acquiredAt(),
                    holder.expiresAt().orElse(null),
                    holder.instance().map(InstanceDescriptor::of).orElse(null),
                    owner == null ? null : InstanceDescriptor.of(owner));
        }
    }

    /**
     * The instance that keeps a grant alive.
     *
     * @param id its id; a string, since JavaScript would round so large a number
     * @param name its name; null if it has deregistered
     * @param heartbeatAt the time of its last heartbeat, by the database's clock; null if it has deregistered
     * @param alive whether the last heartbeat is recent enough
     * @param reclaimableAt when others may take back what it keeps alive unless there is a heartbeat; null if it has deregistered
     */
    public record InstanceDescriptor(
            String id,
            @Nullable String name,
            @Nullable Instant heartbeatAt,
            boolean alive,
            @Nullable Instant reclaimableAt) {

        static InstanceDescriptor of(HolderInstance instance) {
            return new InstanceDescriptor(
                    String.valueOf(instance.id()),
                    instance.name().orElse(null),
                    instance.heartbeatAt().orElse(null),
                    instance.alive(),
                    instance.reclaimableAt().orElse(null));
        }

        static InstanceDescriptor of(InstanceStatus instance) {
            return new InstanceDescriptor(
                    String.valueOf(instance.id()),
                    instance.name(),
                    instance.heartbeatAt(),
                    instance.alive(),
                    instance.reclaimableAt().orElse(null));
        }
    }

    /**
     * The outcome of a forced release.
     *
     * @param externalId the external id of the request
     * @param outcome what the release did
     */
    public record ForcedRelease(String externalId, ReleaseOutcome outcome) implements OperationResponseBody {}

    /** Thrown for an operation of the endpoint that is not enabled, or not for this request. */
    static final class OperationDisabledException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private OperationDisabledException(String message) {
            super(message);
        }

        static OperationDisabledException enabledBy(String property) {
            return new OperationDisabledException(
                    "This operation is disabled. Set %s=true to enable it.".formatted(property));
        }

        static OperationDisabledException withoutUser() {
            return new OperationDisabledException(
                    "Nothing was changed: the request has no authenticated user. Sign in. In an application"
                            + " without a login, set semaphore.endpoint.anonymous-write-enabled=true only where nobody else reaches the"
                            + " endpoint: neither other hosts nor a browser that also opens pages of other sites.");
        }
    }

    /** Who has signed in. */
    static final class AuthenticatedUser {

        private static final boolean SPRING_SECURITY = ClassUtils.isPresent(
                "org.springframework.security.core.Authentication", AuthenticatedUser.class.getClassLoader());

        private AuthenticatedUser() {}

        /** The user of a request; null if nobody has signed in. */
        static @Nullable Principal of(SecurityContext context) {
            Principal principal = context.getPrincipal();
            return principal == null || (SPRING_SECURITY && Security.isAnonymous(principal)) ? null : principal;
        }

        /** Loaded only where the application has Spring Security, which also has a principal for those who have not signed in. */
        private static final class Security {

            private static boolean isAnonymous(Principal principal) {
                return principal instanceof Authentication authentication
                        && (authentication instanceof AnonymousAuthenticationToken
                                || !authentication.isAuthenticated());
            }
        }
    }
}
