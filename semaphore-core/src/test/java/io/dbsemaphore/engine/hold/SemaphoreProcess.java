package io.dbsemaphore.engine.hold;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;

/**
 * The main class of the processes that these tests freeze, kill and run side by side. It does what it reads:
 *
 * <ul>
 *   <li>{@code acquire ID TTL_SECONDS WAIT_SECONDS NAME…} says {@code GRANTED ID}, {@code REFUSED ID} or {@code FAILED ID why}
 *   <li>{@code head-start SECONDS} is that of later acquires
 *   <li>{@code stop-before COMMIT_OR_SQL} stops before the next such statement and says {@code STOPPED}
 *   <li>{@code go-on} ends that
 *   <li>{@code hammer NAME THREADS SECONDS} says {@code HAMMERED grants peak}, see {@link Witness}
 * </ul>
 */
final class SemaphoreProcess {

    private static final Duration LONGEST_STOP = Duration.ofSeconds(60);

    private final Schema schema;
    private final Node node;
    private volatile Duration headStart = Duration.ZERO;

    private SemaphoreProcess(Schema schema, Node node) {
        this.schema = schema;
        this.node = node;
    }

    /** Arguments: seconds of lock wait, and of idle limit. */
    public static void main(String[] arguments) throws IOException {
        Schema schema = TestDatabase.handedOver();
        SemaphoreSettings settings =
                TestSettings.limits(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]), 3);
        try (schema;
                Node node = Node.on(schema, settings);
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            say("READY");
            SemaphoreProcess process = new SemaphoreProcess(schema, node);
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                process.obey(new ArrayDeque<>(Arrays.asList(line.split(" "))));
            }
        }
    }

    private void obey(Queue<String> words) {
        switch (words.remove()) {
            case "acquire" ->
                inBackground(() -> acquire(
                        words.remove(),
                        seconds(words.remove()),
                        seconds(words.remove()),
                        words.toArray(String[]::new)));
            case "head-start" -> headStart = seconds(words.remove());
            case "stop-before" -> stopBefore(String.join(" ", words));
            case "go-on" -> node.gate().open();
            case "hammer" ->
                inBackground(() -> say("HAMMERED "
                        + Witness.hammer(
                                node.semaphores(),
                                schema.jdbc(),
                                words.remove(),
                                Integer.parseInt(words.remove()),
                                Duration.ofSeconds(Long.parseLong(words.remove())))));
            default -> throw new IllegalArgumentException("Unknown: " + words);
        }
    }

    private static Duration seconds(String word) {
        return Duration.ofSeconds(Long.parseLong(word));
    }

    private void acquire(String id, Duration ttl, Duration waitTime, String... names) {
        AcquireRequest request = AcquireRequest.of(names)
                .withExternalId(id)
                .withTtl(ttl)
                .withWaitTime(waitTime)
                .withHeadStart(headStart);
        try {
            say(node.semaphores()
                    .tryAcquire(request)
                    .map(PermitGrant::externalId)
                    .map(granted -> "GRANTED " + granted)
                    .orElse("REFUSED " + id));
        } catch (RuntimeException failure) {
            say("FAILED " + id + " " + failure);
        }
    }

    private void stopBefore(String where) {
        Pause pause = where.equals("commit")
                ? node.gate().pauseBeforeCommitOf("insert into permit_request")
                : node.gate().pauseBefore(where);
        inBackground(() -> {
            pause.awaitReached(LONGEST_STOP);
            say("STOPPED");
        });
    }

    private static void inBackground(Runnable work) {
        Thread thread = new Thread(work, "process");
        thread.setDaemon(true);
        thread.start();
    }

    private static void say(String message) {
        System.out.println(message);
    }
}
