package io.dbsemaphore.samples.recipes;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;

/** Requests to the web servers of instances. */
public final class Requests {

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private Requests() {}

    /** Sends a POST request, whose response the future has. */
    public static CompletableFuture<HttpResponse<String>> post(int port, String path) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                .POST(BodyPublishers.noBody())
                .timeout(Instances.SOON)
                .build();
        return CLIENT.sendAsync(request, BodyHandlers.ofString());
    }
}
