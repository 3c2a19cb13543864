package io.dbsemaphore.tools.faults.client;

import io.dbsemaphore.AcquireOutcomeUnknownException;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.tools.faults.oracle.Event;
import io.dbsemaphore.tools.faults.oracle.Event.Kind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.springframework.core.NestedExceptionUtils;

/** Acquires and releases, and tells the oracle before and after. Used by one thread. */
final class Caller {

    private final SemaphoreOperations semaphores;
    private final Socket oracle;
    private final String client;
    private final String thread;
    private long requests;

    Caller(SemaphoreOperations semaphores, ClientSettings settings, String thread) throws IOException {
        this.semaphores = semaphores;
        this.client = settings.client();
        this.thread = thread;
        oracle = new Socket(InetAddress.getLoopbackAddress(), settings.oracle());
        oracle.setTcpNoDelay(true);
    }

    /** The name of a new request, unique in the whole run. */
    String newRequest() {
        return client + "-" + thread + "-" + ++requests;
    }

    /** Acquires; empty if nothing was granted. */
    Optional<PermitGrant> acquire(String request, AcquireRequest wanted, Map<String, Long> permits) {
        return acquire(request, wanted, permits, "");
    }

    /** Acquires with this share, which an earlier build of the library does not have. */
    Optional<PermitGrant> acquire(String request, AcquireRequest wanted, Map<String, Long> permits, String share) {
        String externalId = wanted.externalId().orElse("");
        long ttl = wanted.keepAlive().orElse(false)
                ? 0
                : wanted.ttl().orElseThrow().toMillis();
        tell(new Event(0, Kind.ACQUIRING, client, request, externalId, permits, ttl, share));
        try {
            PermitGrant grant = semaphores.acquire(wanted);
            tell(new Event(0, Kind.GRANTED, client, request, grant.externalId(), tokens(grant), ttl, how(grant)));
            return Optional.of(grant);
        } catch (PermitsUnavailableException refusal) {
            tell(Kind.REFUSED, request, "");
        } catch (AcquireOutcomeUnknownException unknown) {
            String cause = String.valueOf(
                    NestedExceptionUtils.getMostSpecificCause(unknown).getMessage());
            tell(new Event(0, Kind.UNKNOWN, client, request, unknown.externalId(), Map.of(), ttl, cause));
        } catch (RuntimeException failure) {
            tell(Kind.FAILED, request, failure.getClass().getSimpleName());
        }
        return Optional.empty();
    }

    /** Releases; the library repeats what fails. */
    void release(String request, PermitGrant grant) {
        tell(Kind.RELEASING, request, grant.isHeld() ? Event.HELD : "");
        String outcome;
        try {
            outcome = grant.release().name();
        } catch (RuntimeException failure) {
            outcome = failure.getClass().getSimpleName();
        }
        tell(Kind.RELEASED, request, outcome);
    }

    /** Tells of an event of a request. */
    void tell(Kind kind, String request, String detail) {
        tell(Event.of(kind, client, request, detail));
    }

    /** Tells what this process uses. */
    void tellUsage(Map<String, Long> usage) {
        tell(new Event(0, Kind.USAGE, client, "", "", usage, 0, ""));
    }

    /** Tells that the client does something to itself. */
    void tellFault(String fault) {
        tell(Event.fault(fault, client));
    }

    /** Returns when the oracle has the event. */
    private void tell(Event event) {
        try {
            oracle.getOutputStream().write((event.encode() + '\n').getBytes(StandardCharsets.UTF_8));
            if (oracle.getInputStream().read() < 0) {
                throw new IOException("The oracle has ended");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String how(PermitGrant grant) {
        return grant.isReused() ? Event.REUSED : grant.isReplayed() ? Event.REPLAYED : "";
    }

    private static Map<String, Long> tokens(PermitGrant grant) {
        Map<String, Long> tokens = new TreeMap<>();
        grant.permits().keySet().forEach(name -> tokens.put(name, grant.fencingToken(name)));
        return tokens;
    }

    /** The permits of a request; an exclusive one takes all. */
    static Map<String, Long> permits(AcquireRequest wanted, Map<String, Integer> capacities) {
        Map<String, Long> permits = new TreeMap<>();
        wanted.permits()
                .forEach((name, count) ->
                        permits.put(name, (long) (wanted.isExclusive() ? capacities.getOrDefault(name, 1) : count)));
        return permits;
    }
}
