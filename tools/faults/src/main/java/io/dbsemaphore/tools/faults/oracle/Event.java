package io.dbsemaphore.tools.faults.oracle;

import java.io.Serializable;
import java.util.Map;
import java.util.TreeMap;

/**
 * Something that a client is about to do or was told, or a fault that was injected.
 *
 * @param nanos when the oracle received it, by its monotonic clock
 * @param client the client; one that is restarted has another name, such as {@code c1.2} after {@code c1.1}
 * @param request the request of that client; empty for attacks
 * @param externalId the idempotency key, where it is known; otherwise empty
 * @param numbers the permits or the fencing tokens of each semaphore
 * @param ttlMillis the time to live that was asked for; 0 where the grant depends on heartbeats
 * @param detail what else there is to say, such as the share of an acquire or the outcome of a release
 */
public record Event(
        long nanos,
        Kind kind,
        String client,
        String request,
        String externalId,
        Map<String, Long> numbers,
        long ttlMillis,
        String detail)
        implements Serializable {

    /** The victim where all clients are concerned. */
    public static final String SERVER = "server";
    /** The clock of the server goes an hour back. */
    public static final String CLOCK_BACK = "server-clock-back";
    /** The clock of the server goes forward again. */
    public static final String CLOCK_FORWARD = "server-clock-forward";
    /** Outcome of a release. */
    public static final String RELEASED = "RELEASED";
    /** Detail of a release that begins while the grant is held, as far as the library knows in the client. */
    public static final String HELD = "held";
    /** Detail of a grant whose permits were handed over within the JVM. */
    public static final String REUSED = "reused";
    /** Detail of a grant that an earlier acquire of the same external id had made. */
    public static final String REPLAYED = "replayed";

    /** What has happened. A client goes on only when the oracle has received it. */
    public enum Kind {
        /** The client is about to acquire. */
        ACQUIRING,
        /** It was granted what it asked for. */
        GRANTED,
        /** It was refused. */
        REFUSED,
        /** The acquire threw something else. */
        FAILED,
        /** It was told that the outcome is unknown. */
        UNKNOWN,
        /** The client is about to write under {@code requireHeld}. */
        WRITING,
        /** The write is committed. */
        WRITTEN,
        /** The write was refused since the permit is lost. */
        WRITE_REFUSED,
        /** The write failed otherwise, or its fate is unknown. */
        WRITE_FAILED,
        /** The write is committed although one with a later token had been. */
        STALE_WRITE,
        /** The client is about to release, or does not regard its permits as held any more. */
        RELEASING,
        /** The release has this outcome. */
        RELEASED,
        /** The client is about to be killed. */
        KILLED,
        /** The client's pool has handed out a connection that works, after one that did not. */
        CONNECTED,
        /** The server no longer answers. */
        SERVER_DOWN,
        /** The server answers again. */
        SERVER_READY,
        /** The client tells what it uses; {@link Event#numbers} has it by name. */
        USAGE,
        /** A fault was injected; {@link Event#detail} names it, and the client that it concerns. */
        FAULT,
        /** The fault has ended. */
        CALM
    }

    /** An event about a request. */
    public static Event of(Kind kind, String client, String request, String detail) {
        return new Event(0, kind, client, request, "", Map.of(), 0, detail);
    }

    /** An attack. */
    public static Event fault(String fault, String victim) {
        return of(Kind.FAULT, victim, "", fault);
    }

    /** The name of the client without the number of the restart. */
    String lineage() {
        return client.replaceFirst("\\.\\d+$", "");
    }

    /** The same, received at this time. */
    public Event at(long received) {
        return new Event(received, kind, client, request, externalId, numbers, ttlMillis, detail);
    }

    /** One line without the time. */
    public String encode() {
        StringBuilder encoded = new StringBuilder();
        numbers.forEach((name, number) -> encoded.append(encoded.isEmpty() ? "" : ",")
                .append(name)
                .append('=')
                .append(number));
        return String.join(
                "\t",
                kind.name(),
                client,
                request,
                externalId,
                encoded,
                String.valueOf(ttlMillis),
                detail.replaceAll("\\s+", " "));
    }

    /** The event of a line. */
    public static Event decode(String line, long received) {
        String[] fields = line.split("\t", -1);
        Map<String, Long> numbers = new TreeMap<>();
        if (!fields[4].isEmpty()) {
            for (String number : fields[4].split(",", -1)) {
                int equals = number.lastIndexOf('=');
                numbers.put(number.substring(0, equals).intern(), Long.valueOf(number.substring(equals + 1)));
            }
        }
        return new Event(
                received,
                Kind.valueOf(fields[0]),
                fields[1],
                fields[2],
                fields[3],
                numbers,
                Long.parseLong(fields[5]),
                fields[6]);
    }
}
