package io.dbsemaphore.operations;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.spi.SemaphoreListener;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/**
 * The main class of the processes that these tests kill, freeze and run side by side. It does what it reads:
 *
 * <ul>
 *   <li>{@code work ID NAME TTL_SECONDS} holds it by {@code execute}, kept alive; says {@code GRANTED ID}
 *   <li>{@code work-unkept ID NAME TTL_SECONDS} the same, not kept alive
 *   <li>{@code work-forever ID NAME} the same, without a TTL
 *   <li>{@code check ID} says {@code CHECK ID held renew require release}, each what is told when it is asked
 *   <li>{@code exit} ends the process with code 3 by {@code System.exit}, which closes the node, within work under a permit of
 *       {@code exit}; says {@code EXITING}
 *   <li>{@code hammer NAME SECONDS} tries to acquire again and again; says {@code HAMMERED attempts grants}
 * </ul>
 *
 * What it loses it says by itself: {@code LOST ID}.
 */
final class OperationsProcess {

    private static final Duration LONGEST_WORK = Duration.ofMinutes(3);

    private final Map<String, PermitGrant> grants = new ConcurrentHashMap<>();
    private final Node node;

    private OperationsProcess(Node node) {
        this.node = node;
    }

    /** Arguments: the timeout of the heartbeat in seconds, and that of the shutdown, one second if it is not given. */
    public static void main(String[] arguments) throws IOException {
        try (Schema schema = TestDatabase.handedOver();
                Node node = Node.on(
                        schema,
                        TestSettings.instanceTimeout(
                                Duration.ofSeconds(Long.parseLong(arguments[0])),
                                Duration.ofSeconds(arguments.length > 1 ? Long.parseLong(arguments[1]) : 1)),
                        new SemaphoreListener() {
                            @Override
                            public void lost(Lost event) {
                                say("LOST " + event.grant().externalId());
                            }
                        });
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            OperationsProcess process = new OperationsProcess(node);
            say("READY");
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                process.obey(line.split(" "));
            }
        }
    }

    private void obey(String... words) {
        switch (words[0]) {
            case "work" -> work(request(words).withTtl(Duration.ofSeconds(Long.parseLong(words[3]))));
            case "work-unkept" ->
                work(request(words)
                        .withTtl(Duration.ofSeconds(Long.parseLong(words[3])))
                        .withKeepAlive(false));
            case "work-forever" -> work(request(words).withoutTtl());
            case "check" -> check(Optional.ofNullable(grants.get(words[1])).orElseThrow());
            case "exit" -> exit(false);
            case "exit-late" -> exit(true);
            case "hammer" -> inBackground(() -> hammer(words[1], Duration.ofSeconds(Long.parseLong(words[2]))));
            default -> throw new IllegalArgumentException("Unknown: " + words[0]);
        }
    }

    private static AcquireRequest request(String... words) {
        return AcquireRequest.of(words[2]).withExternalId(words[1]);
    }

    private void work(AcquireRequest request) {
        inBackground(() -> node.semaphores().executeWithoutResult(request, grant -> {
            grants.put(grant.externalId(), grant);
            say("GRANTED " + grant.externalId());
            new CountDownLatch(1).await(LONGEST_WORK.toSeconds(), TimeUnit.SECONDS);
        }));
    }

    /** Exits within work that holds a permit, while a shutdown has begun or not. */
    private void exit(boolean late) {
        Runtime.getRuntime().addShutdownHook(new Thread(node::close));
        node.admin().create("exit", 1);
        node.semaphores().executeWithoutResult(AcquireRequest.of("exit"), grant -> {
            say("EXITING");
            if (late) {
                inBackground(() -> System.exit(3));
                Awaitility.await().pollDelay(Duration.ofSeconds(1)).until(() -> true);
            }
            System.exit(3);
        });
    }

    private void check(PermitGrant grant) {
        boolean held = grant.isHeld();
        String renewed = told(() -> grant.renew(Duration.ofMinutes(1)));
        String required = told(() -> node.transaction()
                .executeWithoutResult(status -> node.semaphores().requireHeld(grant)));
        say("CHECK %s %s %s %s %s".formatted(grant.externalId(), held, renewed, required, grant.release()));
    }

    private void hammer(String name, Duration duration) {
        long end = System.nanoTime() + duration.toNanos();
        int attempts = 0;
        int granted = 0;
        while (System.nanoTime() < end) {
            attempts++;
            Optional<PermitGrant> grant = node.semaphores().tryAcquire(AcquireRequest.of(name));
            if (grant.isPresent()) {
                granted++;
                grant.get().release();
            }
        }
        say("HAMMERED " + attempts + " " + granted);
    }

    private static String told(Runnable question) {
        try {
            question.run();
            return "fine";
        } catch (RuntimeException failure) {
            return failure.getClass().getSimpleName();
        }
    }

    private static void inBackground(Work work) {
        Future<?> unused = Concurrently.async("work", () -> {
            try {
                work.run();
            } catch (Exception failure) {
                say("FAILED " + failure);
            }
            return null;
        });
    }

    private interface Work {
        void run() throws Exception;
    }

    private static void say(String message) {
        System.out.println(message);
    }
}
