package io.dbsemaphore.boot.actuate;

import io.dbsemaphore.SemaphoreNotFoundException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;
import org.springframework.util.MimeType;

/** The endpoint over HTTP: errors have a status and a body that explains them (RFC 9457, problem details). */
@EndpointWebExtension(endpoint = SemaphoresEndpoint.class)
public class SemaphoresEndpointWebExtension {

    private static final int FORBIDDEN = 403;
    private static final MimeType PROBLEM = MimeType.valueOf("application/problem+json");

    private final SemaphoresEndpoint endpoint;

    SemaphoresEndpointWebExtension(SemaphoresEndpoint endpoint) {
        this.endpoint = endpoint;
    }

    /**
     * See {@link SemaphoresEndpoint#semaphore}.
     *
     * @param name the name of the semaphore
     * @return the details, or 404
     */
    @ReadOperation
    public WebEndpointResponse<Object> semaphore(@Selector String name) {
        return answer(
                () -> endpoint.semaphore(name),
                () ->
                        "There is no semaphore named '%s'. Names are compared byte for byte; the endpoint without a name lists all of them"
                                .formatted(name));
    }

    /**
     * See {@link SemaphoresEndpoint#semaphores} and {@link SemaphoresEndpoint#semaphore}. The name as a query parameter
     * instead of a part of the path, since many servers and firewalls refuse paths with an encoded slash or percent sign.
     *
     * @param name the name of a semaphore; null for all semaphores
     * @return all semaphores, or the details of one, or 404
     */
    @ReadOperation
    public WebEndpointResponse<Object> semaphores(@Nullable String name) {
        return name == null ? new WebEndpointResponse<>(endpoint.semaphores()) : semaphore(name);
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
            SecurityContext securityContext, String name, @Nullable String capacity, @Nullable String reason) {
        return setCapacity(securityContext, name, capacity, reason);
    }

    /**
     * See {@link SemaphoresEndpoint#forceRelease}, with the name and the external id as query parameters.
     *
     * @param securityContext the principal, for the audit
     * @param name the name of a semaphore that the request holds permits of
     * @param externalId the external id of the request
     * @param reason the reason, for the audit
     * @return the outcome, or 403 or 404
     */
    @DeleteOperation
    public WebEndpointResponse<Object> forceReleaseByName(
            SecurityContext securityContext, String name, String externalId, @Nullable String reason) {
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
                () -> endpoint.setCapacity(securityContext, name, number(capacity), reason),
                () -> "There is no semaphore named '%s'".formatted(name));
    }

    /**
     * See {@link SemaphoresEndpoint#forceRelease}.
     *
     * @param securityContext the principal, for the audit
     * @param name the name of a semaphore that the request holds permits of
     * @param externalId the external id of the request
     * @param reason the reason, for the audit
     * @return the outcome, or 403 or 404
     */
    @DeleteOperation
    public WebEndpointResponse<Object> forceRelease(
            SecurityContext securityContext,
            @Selector String name,
            @Selector String externalId,
            @Nullable String reason) {
        return answer(
                () -> endpoint.forceRelease(securityContext, name, externalId, reason),
                () -> "The request '%s' holds no permit of semaphore '%s'. Nothing was released"
                        .formatted(externalId, name));
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

    private static WebEndpointResponse<Object> answer(
            Supplier<? extends @Nullable Object> operation, Supplier<String> notFound) {
        try {
            Object body = operation.get();
            return body == null
                    ? problem(WebEndpointResponse.STATUS_NOT_FOUND, "Not Found", notFound.get())
                    : new WebEndpointResponse<>(body);
        } catch (OperationDisabledException disabled) {
            return problem(FORBIDDEN, "Forbidden", disabled.getMessage());
        } catch (SemaphoreNotFoundException unknown) {
            return problem(WebEndpointResponse.STATUS_NOT_FOUND, "Not Found", unknown.getMessage());
        } catch (IllegalArgumentException invalid) {
            return problem(WebEndpointResponse.STATUS_BAD_REQUEST, "Bad Request", invalid.getMessage());
        }
    }

    private static WebEndpointResponse<Object> problem(int status, String title, @Nullable String detail) {
        return new WebEndpointResponse<>(new Problem(title, status, String.valueOf(detail)), status, PROBLEM);
    }

    /** The body of an error response. */
    record Problem(String title, int status, String detail) implements OperationResponseBody {}
}
