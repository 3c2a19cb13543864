package io.dbsemaphore.samples.recipes.restclient;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreTemplate;
import java.io.IOException;
import java.time.Duration;
import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.stereotype.Component;

/** A call has a permit from before it is sent until its response is closed. */
@Component
class PartnerLimit implements ClientHttpRequestInterceptor {

    private static final AcquireRequest CALL = AcquireRequest.of("partner")
            .withWaitTime(Duration.ofSeconds(30))
            .withKeepAlive(true)
            .withMaxHold(Duration.ofMinutes(5)); // for a response that is never closed

    private final SemaphoreTemplate semaphores;

    PartnerLimit(SemaphoreTemplate semaphores) {
        this.semaphores = semaphores;
    }

    @Override
    public ClientHttpResponse intercept(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
            throws IOException {
        PermitGrant grant = semaphores.acquire(CALL);
        try {
            return new LimitedResponse(execution.execute(request, body), grant);
        } catch (Throwable failure) {
            grant.close();
            throw failure;
        }
    }
}
