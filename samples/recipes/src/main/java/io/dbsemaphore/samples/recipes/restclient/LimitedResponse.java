package io.dbsemaphore.samples.recipes.restclient;

import io.dbsemaphore.PermitGrant;
import java.io.IOException;
import java.io.InputStream;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.client.ClientHttpResponse;

record LimitedResponse(ClientHttpResponse response, PermitGrant grant) implements ClientHttpResponse {

    @Override
    public void close() {
        try (grant) {
            response.close();
        }
    }

    @Override
    public HttpStatusCode getStatusCode() throws IOException {
        return response.getStatusCode();
    }

    @Override
    public String getStatusText() throws IOException {
        return response.getStatusText();
    }

    @Override
    public HttpHeaders getHeaders() {
        return response.getHeaders();
    }

    @Override
    public InputStream getBody() throws IOException {
        return response.getBody();
    }
}
