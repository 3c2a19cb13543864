package io.dbsemaphore.boot.actuate;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.PathContainer.PathSegment;
import org.springframework.util.StringUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * The headers of all answers below the path of the endpoint, errors included: no other site shows the page in a frame, no
 * browser guesses another type of content, and nothing is kept in a cache. Headers that the application's own security sets
 * later replace them.
 */
final class EndpointHeaders {

    private static final Map<String, String> HEADERS = Map.of(
            "X-Frame-Options", "DENY",
            "Content-Security-Policy", "frame-ancestors 'none'",
            "X-Content-Type-Options", "nosniff",
            "Cache-Control", "no-store");

    /** The segments of the endpoint's path; empty if it is not exposed. Looked up at the first request, when all endpoints exist. */
    private final Supplier<List<String>> endpoint;

    EndpointHeaders(ObjectProvider<PathMappedEndpoints> endpoints) {
        endpoint = SingletonSupplier.of(() -> {
            PathMappedEndpoints paths = endpoints.getIfAvailable();
            String path = paths == null ? null : paths.getPath(EndpointId.of("semaphores"));
            return path == null ? List.<String>of() : List.of(StringUtils.tokenizeToStringArray(path, "/"));
        });
    }

    /** Whether a request may be one to the endpoint, at little cost: an undecoded path is not parsed unless it may. */
    boolean mayConcern(String undecoded) {
        List<String> segments = endpoint.get();
        return !segments.isEmpty()
                && (undecoded.indexOf('%') >= 0 || undecoded.contains(segments.get(segments.size() - 1)));
    }

    /** Sets the headers if the path is that of the endpoint or one below it; what precedes it, such as a servlet's path, may be anything. */
    void set(PathContainer path, BiConsumer<String, String> header) {
        List<String> segments = path.elements().stream()
                .filter(PathSegment.class::isInstance)
                .map(element -> ((PathSegment) element).valueToMatch())
                .toList();
        if (!endpoint.get().isEmpty() && Collections.indexOfSubList(segments, endpoint.get()) >= 0) {
            HEADERS.forEach(header);
        }
    }
}
