package io.dbsemaphore.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.boot.OrdersHost;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import org.jspecify.annotations.Nullable;
import org.springframework.test.json.JsonContent;
import org.springframework.test.json.JsonContentAssert;

/** What the endpoint of a host answers over HTTP. */
record Answer(int status, String contentType, String body) {

    private static final HttpClient HTTP = HttpClient.newHttpClient();

    static Answer get(OrdersHost host, String path) {
        return send(HttpRequest.newBuilder(uri(host, path)).GET(), null);
    }

    static Answer post(OrdersHost host, String path, String body, @Nullable String user) {
        return send(
                HttpRequest.newBuilder(uri(host, path))
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(body)),
                user);
    }

    static Answer delete(OrdersHost host, String path, @Nullable String user) {
        return send(HttpRequest.newBuilder(uri(host, path)).DELETE(), user);
    }

    private static Answer send(HttpRequest.Builder request, @Nullable String user) {
        if (user != null) {
            request.header(Principals.HEADER, user);
        }
        try {
            HttpResponse<String> response = HTTP.send(request.build(), BodyHandlers.ofString());
            return new Answer(
                    response.statusCode(),
                    response.headers().firstValue("Content-Type").orElse(""),
                    response.body());
        } catch (IOException failure) {
            throw new IllegalStateException(failure);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupt);
        }
    }

    private static URI uri(OrdersHost host, String path) {
        return URI.create("http://localhost:%d/actuator/semaphores%s".formatted(host.port(), path));
    }

    JsonContentAssert json() {
        return assertThat(new JsonContent(body));
    }

    void assertProblem(int expected, String detail) {
        assertThat(status).as(body).isEqualTo(expected);
        assertThat(contentType).startsWith("application/problem+json");
        json().extractingPath("$.status").isEqualTo(expected);
        json().extractingPath("$.detail").asString().contains(detail);
    }
}
