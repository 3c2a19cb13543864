package io.dbsemaphore.boot.actuate;

import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.SemaphoreNotFoundException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.util.MimeType;

/** The endpoint over HTTP: errors have a status and a body that explains them (RFC 9457, problem details). */
@EndpointWebExtension(endpoint = SemaphoresEndpoint.class)
public class SemaphoresEndpointWebExtension {

    private static final Logger log = LoggerFactory.getLogger(SemaphoresEndpointWebExtension.class);

    private static final MimeType PROBLEM = MimeType.valueOf("application/problem+json");

    private final SemaphoresEndpoint endpoint;
    private final SemaphoreViews views;
    private final SemaphoreEndpointProperties properties;

    SemaphoresEndpointWebExtension(
            SemaphoresEndpoint endpoint, SemaphoreViews views, SemaphoreEndpointProperties properties) {
        this.endpoint = endpoint;
        this.views = views;
        this.properties = properties;
    }

    /**
     * See {@link SemaphoresEndpoint#semaphore}.
     *
     * @param name the name of the semaphore
     * @return the details, or 404
     */
    @ReadOperation
    public WebEndpointResponse<Object> semaphore(@Selector String name) {
        return answer(() -> endpoint.semaphore(name), () -> noSemaphore(name));
    }

    /**
     * Without a parameter, all semaphores. With a name, what {@link SemaphoresEndpoint#semaphore} shows; the name as a query
     * parameter instead of a part of the path, since many servers and firewalls refuse paths with an encoded slash or percent
     * sign. With a view, a bounded part of the data.
     *
     * @param view {@code overview}, {@code semaphore}, {@code requests} or {@code instances}
     * @param name the name of a semaphore; for the views {@code semaphore} and {@code requests}
     * @param containing a part of the owner or external id of the holders; for the view {@code semaphore}
     * @param after the fencing token of the last holder of the previous page; for the view {@code semaphore}
     * @param until the end of the period, by default now; for the view {@code requests}
     * @param period the length of the period, by default an hour; for the view {@code requests}
     * @param limit the maximum number of holders or requests
     * @return the view, or 400 or 404
     */
    @ReadOperation
    public WebEndpointResponse<Object> semaphores(
            @Nullable String view,
            @Nullable String name,
            @Nullable String containing,
            @Nullable String after,
            @Nullable String until,
            @Nullable String period,
            @Nullable String limit) {
        if (view == null) {
            return name == null ? answer(endpoint::semaphores, () -> "There are no semaphores") : semaphore(name);
        }
        return answer(
                () -> views.view(view, name, containing, after, until, period, limit),
                () -> noSemaphore(String.valueOf(name)));
    }

    /**
     * See {@link SemaphoresEndpoint#setCapacity}, with the name in the body.
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
                : setCapacity(securityContext, name, capacity, reason);
    }

    /**
     * See {@link SemaphoresEndpoint#forceRelease}, with the name and the external id as query parameters.
     *
     * @param securityContext the principal, for the audit
     * @param name the name of a semaphore that the request holds permits of
     * @param externalId the external id of the request
     * @param reason the reason, for the audit
     * @return the outcome, or 400, 403 or 404
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
        return forceRelease(securityContext, name, externalId, reason);
    }

    /**
     * See {@link SemaphoresEndpoint#setCapacity}.
     *
     * @param securityContext the principal, for the audit
     * @param name the name of the semaphore
     * @param capacity the new capacity; a string, so that an invalid number is answered with an explanation
     * @param reason the reason, for the audit
     * @return the changed semaphore, or 400, 403 or 404
     */
    @WriteOperation
    public WebEndpointResponse<Object> setCapacity(
            SecurityContext securityContext,
            @Selector String name,
            @Nullable String capacity,
            @Nullable String reason) {
        return answer(
                () -> {
                    requireUser(securityContext, properties.setCapacityEnabled());
                    return endpoint.setCapacity(securityContext, name, number(capacity), reason);
                },
                () -> "There is no semaphore named '%s'".formatted(name));
    }

    /**
     * See {@link SemaphoresEndpoint#forceRelease}.
     *
     * @param securityContext the principal, for the audit
     * @param name the name of a semaphore that the request holds permits of
     * @param externalId the external id of the request
     * @param reason the reason, for the audit
     * @return the outcome, or 400, 403 or 404
     */
    @DeleteOperation
    public WebEndpointResponse<Object> forceRelease(
            SecurityContext securityContext,
            @Selector String name,
            @Selector String externalId,
            @Nullable String reason) {
        return answer(
                () -> {
                    requireUser(securityContext, properties.forceReleaseEnabled());
                    return endpoint.forceRelease(securityContext, name, externalId, reason);
                },
                () -> "The request '%s' holds no permit of semaphore '%s'. Nothing was released"
                        .formatted(externalId, name));
    }

    private static String noSemaphore(String name) {
        return "There is no semaphore named '%s'. Names are compared byte for byte; the endpoint without a name lists all of them"
                .formatted(name);
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
     * A request without a user is refused by default: a page of another site can send one with the browser of somebody who reaches
     * the endpoint, once the site's name resolves to the address of the endpoint (DNS rebinding).
     */
    private void requireUser(SecurityContext securityContext, boolean enabled) {
        if (enabled && !mayWrite(securityContext)) {
            throw SemaphoresEndpoint.OperationDisabledException.withoutUser();
        }
    }

    /** Whether a request may change what is enabled. */
    boolean mayWrite(SecurityContext securityContext) {
        return properties.anonymousWriteEnabled() || SemaphoresEndpoint.AuthenticatedUser.of(securityContext) != null;
    }

    private static WebEndpointResponse<Object> answer(
            Supplier<? extends @Nullable Object> operation, Supplier<String> notFound) {
        try {
            Object body = operation.get();
            return body == null ? problem(HttpStatus.NOT_FOUND, notFound.get()) : new WebEndpointResponse<>(body);
        } catch (SemaphoresEndpoint.OperationDisabledException disabled) {
            return problem(HttpStatus.FORBIDDEN, disabled.getMessage());
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

    /** Such parameters are nullable: Spring Boot would answer without an explanation. */
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
}
