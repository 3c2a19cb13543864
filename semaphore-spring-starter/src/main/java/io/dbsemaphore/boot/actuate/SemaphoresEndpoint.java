package io.dbsemaphore.boot.actuate;

import static java.util.Objects.requireNonNullElse;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreName;
import java.security.Principal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.security.authentication.AuthenticationTrustResolverImpl;
import org.springframework.security.core.Authentication;
import org.springframework.util.ClassUtils;
import org.springframework.util.MimeType;
import org.springframework.web.server.ResponseStatusException;

/**
 * Actuator endpoint {@code semaphores}: shows the semaphores and their holders and, if enabled, changes capacities and releases permits by
 * force. Both write operations are audited with the name of the principal. Errors have a status and a body that explains them (RFC 9457,
 * problem details).
 */
@WebEndpoint(id = "semaphores")
public class SemaphoresEndpoint {

    private static final Logger log = LoggerFactory.getLogger(SemaphoresEndpoint.class);

    private static final boolean SPRING_SECURITY = ClassUtils.isPresent(
            "org.springframework.security.core.Authentication", SemaphoresEndpoint.class.getClassLoader());

    private static final MimeType PROBLEM = MimeType.valueOf("application/problem+json");
    private static final String ANONYMOUS = "anonymous";
    private static final String NO_REASON = "no reason given";

    private final SemaphoreAdmin admin;
    private final SemaphoreViews views;
    private final SemaphoreEndpointProperties properties;

    /**
     * Creates the endpoint. Warns if a write operation is enabled, but the access to the endpoint does not permit it.
     *
     * @param access the access to the endpoint
     */
    SemaphoresEndpoint(SemaphoreAdmin admin, SemaphoreEndpointProperties properties, Access access) {
        this.admin = admin;
        this.views = new SemaphoreViews(admin);
        this.properties = properties;
        if (access != Access.UNRESTRICTED && (properties.setCapacityEnabled() || properties.forceReleaseEnabled())) {
            log.warn(
                    "management.endpoint.semaphores.set-capacity-enabled and"
                            + " management.endpoint.semaphores.force-release-enabled have no effect: the access to the endpoint is {}"
                            + " (management.endpoint.semaphores.access or management.endpoints.access). Set it to unrestricted, or"
                            + " remove them",
                    access);
        }
    }

    /**
     * Lists the semaphores in the order of their names, or shows one of them, as {@link #details} does. The name is a query parameter,
     * because many servers and firewalls refuse paths with an encoded slash or percent sign.
     *
     * @param name the name of a semaphore, or null to list them
     * @param containing a part of the semaphores' names, or with a name, of the holders' owner, label or external id
     * @param after the name of the last semaphore of the previous page, or with a name, the fencing token of the last holder
     * @param limit the maximum number of semaphores, by default 1,000, or of holders, by default 100
     * @return the view, or 400 or 404
     */
    @ReadOperation
    public WebEndpointResponse<Object> semaphores(
            @Nullable String name, @Nullable String containing, @Nullable String after, @Nullable String limit) {
        return name == null
                ? answer(() -> views.semaphores(
                        requireNonNullElse(containing, ""), requireNonNullElse(after, ""), limit(limit, 1000)))
                : details(new String[0], name, containing, after, null, null, limit);
    }

    /**
     * Shows a semaphore with its holders and its audit, the requests that held its permits in a period, how many permits were held in a
     * period, or the instances.
     *
     * @param path the name of a semaphore, split at its slashes, optionally followed by {@code requests} or {@code history}; or
     *     {@code instances}
     * @param name the name of the semaphore, if it is not in the path
     * @param containing a part of the owner, label or external id of the holders
     * @param after the fencing token of the last holder of the previous page
     * @param until the end of the period, by default now
     * @param period the length of the period, by default an hour
     * @param limit the maximum number of holders, by default 100, or of requests, by default 500
     * @return the view, or 400 or 404
     */
    @ReadOperation
    public WebEndpointResponse<Object> details(
            @Selector(match = Selector.Match.ALL_REMAINING) String[] path,
            @Nullable String name,
            @Nullable String containing,
            @Nullable String after,
            @Nullable String until,
            @Nullable String period,
            @Nullable String limit) {
        String last = path.length > (name == null ? 1 : 0) ? path[path.length - 1] : "";
        boolean ofPeriod = last.equals("requests") || last.equals("history");
        String inPath = name(path, ofPeriod ? path.length - 1 : path.length);
        String semaphore = requireNonNullElse(name, inPath);
        return answer(() -> {
            if (name == null && !ofPeriod && inPath.equals("instances")) {
                return views.instances();
            }
            if (name != null && !inPath.isEmpty()) {
                throw new IllegalArgumentException(
                        "The path names the semaphore '%s', and the parameter 'name' another: '%s'. Leave out one of them"
                                .formatted(inPath, name));
            }
            if (!ofPeriod) {
                return views.semaphore(
                        semaphore,
                        requireNonNullElse(containing, ""),
                        parsed("after", after, Long::valueOf, "0", 0L),
                        limit(limit, 100));
            }
            Instant end = until == null
                    ? null
                    : parsed("until", until, Instant::parse, "2026-01-31T12:00:00Z", Instant.EPOCH);
            Duration length = parsed("period", period, DurationStyle::detectAndParse, "15m", Duration.ofHours(1));
            return last.equals("requests")
                    ? views.requests(semaphore, end, length, limit(limit, 500))
                    : views.history(semaphore, end, length);
        });
    }

    /** Joins the first parts of a path to a name. */
    private static String name(String[] path, int length) {
        return String.join("/", List.of(path).subList(0, length));
    }

    private static int limit(@Nullable String value, int fallback) {
        return parsed("limit", value, Integer::valueOf, "100", fallback);
    }

    /** Parses the text of a parameter. An invalid one is refused with the parameter's name and an example. */
    private static <T> T parsed(
            String name, @Nullable String value, Function<String, T> parser, String example, T fallback) {
        try {
            return value == null ? fallback : parser.apply(value);
        } catch (IllegalArgumentException | DateTimeException invalid) {
            throw new IllegalArgumentException(
                    "The parameter '%s' is invalid: '%s'. An example is %s".formatted(name, value, example), invalid);
        }
    }

    /**
     * Changes a capacity like {@link #setCapacity}, with the name in the body.
     *
     * @param securityContext the principal, for the audit
     * @param name the name of the semaphore
     * @param capacity the new capacity
     * @param reason the reason, for the audit
     * @return the changed semaphore, or 400, 403 or 404
     */
    @WriteOperation
    public WebEndpointResponse<Object> setCapacityByName(
            SecurityContext securityContext,
            @Nullable String name,
            @Nullable String capacity,
            @Nullable String reason) {
        return name == null
                ? missing("name", "{\"name\": \"backup\", \"capacity\": 5, \"reason\": \"why\"}")
                : setCapacity(securityContext, new String[] {name}, capacity, reason);
    }

    /**
     * Releases by force like {@link #forceRelease}, with the name and the external id as query parameters.
     *
     * @param securityContext the principal, for the audit
     * @param name the name of a semaphore that the request holds permits of
     * @param externalId the external id of the request
     * @param reason the reason, for the audit
     * @return the outcome, or 400, 403, 404 or 409
     */
    @DeleteOperation
    public WebEndpointResponse<Object> forceReleaseByName(
            SecurityContext securityContext,
            @Nullable String name,
            @Nullable String externalId,
            @Nullable String reason) {
        if (name == null || externalId == null) {
            return missing(name == null ? "name" : "externalId", "?name=backup&externalId=…&reason=why");
        }
        return forceRelease(securityContext, new String[] {name, externalId}, reason);
    }

    /**
     * Changes the capacity of a semaphore, for all instances.
     *
     * @param securityContext the principal, for the audit
     * @param path the name of the semaphore, split at its slashes
     * @param capacity the new capacity, at least 0; a string, so that an invalid number is answered with an explanation
     * @param reason the reason, for the audit
     * @return the changed semaphore, or 400, 403 or 404
     */
    @WriteOperation
    public WebEndpointResponse<Object> setCapacity(
            SecurityContext securityContext,
            @Selector(match = Selector.Match.ALL_REMAINING) String[] path,
            @Nullable String capacity,
            @Nullable String reason) {
        String name = name(path, path.length);
        return answer(() -> {
            requirePermitted(
                    securityContext,
                    properties.setCapacityEnabled(),
                    "management.endpoint.semaphores.set-capacity-enabled");
            admin.setCapacity(name, number(capacity), operator(securityContext), reasonOrNone(reason));
            return admin.find(name).map(SemaphoreViews::object).orElseThrow(() -> SemaphoreViews.noSemaphore(name));
        });
    }

    /**
     * Releases all permits of a request by force, including those of other semaphores.
     *
     * @param securityContext the principal, for the audit
     * @param path the name of a semaphore that the request holds permits of, split at its slashes, and the external id of the request
     * @param reason the reason, for the audit
     * @return the outcome, or 400, 403, 404 or 409
     */
    @DeleteOperation
    public WebEndpointResponse<Object> forceRelease(
            SecurityContext securityContext,
            @Selector(match = Selector.Match.ALL_REMAINING) String[] path,
            @Nullable String reason) {
        if (path.length < 2) {
            return missing("externalId", "/backup/…?reason=why");
        }
        String name = name(path, path.length - 1);
        String externalId = path[path.length - 1];
        return answer(() -> {
            requirePermitted(
                    securityContext,
                    properties.forceReleaseEnabled(),
                    "management.endpoint.semaphores.force-release-enabled");
            SemaphoreName.requireValidKey("external id", externalId);
            if (admin.holders(name).stream()
                    .noneMatch(holder -> holder.externalId().equals(externalId))) {
                throw new ResponseStatusException(
                        HttpStatus.NOT_FOUND,
                        "The request '%s' holds no permit of semaphore '%s'. Nothing was released"
                                .formatted(externalId, name));
            }
            try {
                ReleaseOutcome outcome =
                        admin.forceRelease(externalId, operator(securityContext), reasonOrNone(reason));
                return Map.of("externalId", externalId, "outcome", outcome);
            } catch (CannotAcquireLockException locked) {
                if (!(locked.getCause() instanceof DataAccessException)) {
                    throw locked;
                }
                throw new ResponseStatusException(HttpStatus.CONFLICT, locked.getMessage(), locked);
            }
        });
    }

    private static int number(@Nullable String capacity) {
        try {
            return Integer.parseInt(String.valueOf(capacity));
        } catch (NumberFormatException invalid) {
            throw new IllegalArgumentException(
                    "The capacity must be a whole number from 0 to %d: %s. Nothing was changed. Send {\"capacity\": 5, \"reason\": \"why\"}"
                            .formatted(Integer.MAX_VALUE, capacity),
                    invalid);
        }
    }

    /**
     * Refuses a request without a user by default, because of DNS rebinding: a page whose site's name resolves to the address of the
     * endpoint can send such a request from the browser of anyone who reaches the endpoint.
     */
    private void requirePermitted(SecurityContext securityContext, boolean enabled, String property) {
        if (!enabled) {
            throw new ResponseStatusException(
                    HttpStatus.FORBIDDEN, "This operation is disabled. Set %s=true to enable it.".formatted(property));
        }
        if (!mayWrite(securityContext)) {
            throw new ResponseStatusException(
                    HttpStatus.FORBIDDEN,
                    "Nothing was changed: the request has no authenticated user. Sign in. In an application"
                            + " without a login, set management.endpoint.semaphores.anonymous-write-enabled=true only where nobody else"
                            + " reaches the endpoint: neither other hosts nor a browser that also opens pages of other sites.");
        }
    }

    /** Whether a request may use the write operations that are enabled. */
    boolean mayWrite(SecurityContext securityContext) {
        return properties.anonymousWriteEnabled() || user(securityContext) != null;
    }

    private static String operator(SecurityContext securityContext) {
        Principal user = user(securityContext);
        return user == null ? ANONYMOUS : shortened(user.getName().replaceAll("[\\p{Cc}\\p{Cs}]", "?"));
    }

    /** Cuts off the end: the subject of an X.509 certificate can be too long for the audit, and its beginning is the most specific. */
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

    private static WebEndpointResponse<Object> answer(Supplier<Map<String, ?>> operation) {
        try {
            return new WebEndpointResponse<>(OperationResponseBody.of(operation.get()));
        } catch (ResponseStatusException refused) {
            return problem(HttpStatus.valueOf(refused.getStatusCode().value()), refused.getReason());
        } catch (SemaphoreNotFoundException unknown) {
            return problem(HttpStatus.NOT_FOUND, unknown.getMessage());
        } catch (IllegalArgumentException invalid) {
            return problem(HttpStatus.BAD_REQUEST, invalid.getMessage());
        } catch (DataAccessException | SemaphoreClosedException unavailable) {
            log.debug("The endpoint semaphores cannot answer", unavailable);
            return problem(
                    HttpStatus.SERVICE_UNAVAILABLE,
                    "The database did not answer, or refused (%s). Nothing was changed as far as is known; try again"
                            .formatted(NestedExceptionUtils.getMostSpecificCause(unavailable)
                                    .getClass()
                                    .getSimpleName()));
        }
    }

    /** Explains that a parameter is missing. Required parameters are nullable, since Spring Boot's own answer explains nothing. */
    private static WebEndpointResponse<Object> missing(String parameter, String example) {
        return problem(
                HttpStatus.BAD_REQUEST,
                "The parameter '%s' is missing. Nothing was changed. Send %s".formatted(parameter, example));
    }

    private static WebEndpointResponse<Object> problem(HttpStatus status, @Nullable String detail) {
        return new WebEndpointResponse<>(
                new Problem(status.getReasonPhrase(), status.value(), String.valueOf(detail)), status.value(), PROBLEM);
    }

    /** The body of an error response. */
    record Problem(String title, int status, String detail) implements OperationResponseBody {}

    /** The user of a request; null without one. */
    private static @Nullable Principal user(SecurityContext context) {
        Principal principal = context.getPrincipal();
        return principal == null || (SPRING_SECURITY && isAnonymous(principal)) ? null : principal;
    }

    /** Whether Spring Security has made this principal for a request without a user. Called only if Spring Security is present. */
    private static boolean isAnonymous(Principal principal) {
        return principal instanceof Authentication authentication
                && !new AuthenticationTrustResolverImpl().isAuthenticated(authentication);
    }
}
