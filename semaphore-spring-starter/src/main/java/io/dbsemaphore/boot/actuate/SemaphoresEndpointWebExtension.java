package io.dbsemaphore.boot.actuate;

import io.dbsemaphore.SemaphoreNotFoundException;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/** The endpoint over HTTP, where what is refused has a status and says why. */
@EndpointWebExtension(endpoint = SemaphoresEndpoint.class)
public class SemaphoresEndpointWebExtension {

    private static final int FORBIDDEN = 403;

    private final SemaphoresEndpoint endpoint;

    SemaphoresEndpointWebExtension(SemaphoresEndpoint endpoint) {
        this.endpoint = endpoint;
    }

    /** See {@link SemaphoresEndpoint#semaphore}. */
    @ReadOperation
    public WebEndpointResponse<Object> semaphore(@Selector String name) {
        return answer(() -> endpoint.semaphore(name));
    }

    /** See {@link SemaphoresEndpoint#setCapacity}. */
    @WriteOperation
    public WebEndpointResponse<Object> setCapacity(
            SecurityContext securityContext, @Selector String name, int capacity, @Nullable String reason) {
        return answer(() -> endpoint.setCapacity(securityContext, name, capacity, reason));
    }

    /** See {@link SemaphoresEndpoint#forceRelease}. */
    @DeleteOperation
    public WebEndpointResponse<Object> forceRelease(
            SecurityContext securityContext,
            @Selector String name,
            @Selector String externalId,
            @Nullable String reason) {
        return answer(() -> endpoint.forceRelease(securityContext, name, externalId, reason));
    }

    private static WebEndpointResponse<Object> answer(Supplier<? extends @Nullable Object> operation) {
        try {
            Object body = operation.get();
            return body == null
                    ? new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND)
                    : new WebEndpointResponse<>(body);
        } catch (OperationDisabledException disabled) {
            return problem(FORBIDDEN, disabled);
        } catch (SemaphoreNotFoundException unknown) {
            return problem(WebEndpointResponse.STATUS_NOT_FOUND, unknown);
        } catch (IllegalArgumentException invalid) {
            return problem(WebEndpointResponse.STATUS_BAD_REQUEST, invalid);
        }
    }

    private static WebEndpointResponse<Object> problem(int status, RuntimeException reason) {
        return new WebEndpointResponse<>(Map.of("error", String.valueOf(reason.getMessage())), status);
    }
}
