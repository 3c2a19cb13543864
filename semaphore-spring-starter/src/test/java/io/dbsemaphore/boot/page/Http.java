package io.dbsemaphore.boot.page;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;

/** Requests of programs and browsers to the endpoint. */
final class Http {

    /** What browsers send when they open an address. */
    static final String BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private Http() {}

    record Answer(int status, String contentType, String body) {}

    /** Reads an address; without an Accept header if it is empty. */
    static Answer get(int port, String path, String accept) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create("http://localhost:%d/actuator/semaphores%s".formatted(port, path)));
        if (!accept.isEmpty()) {
            request.header("Accept", accept);
        }
        return send(request.build());
    }

    static Answer send(HttpRequest request) {
        try {
            HttpResponse<String> response = CLIENT.send(request, BodyHandlers.ofString());
            return new Answer(
                    response.statusCode(),
                    response.headers().firstValue("Content-Type").orElse(""),
                    response.body());
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupt);
        }
    }
}
