package io.dbsemaphore.engine.fairness;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
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
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * The main class of processes whose callers wait for one permit each, with a share; {@code -} for none. It says {@code READY} and its
 * clock, and reads these lines:
 *
 * <ul>
 *   <li>{@code wait ID NAME SHARE HEAD_START_SECONDS WAIT_MILLIS}: a caller begins to wait. It says {@code GRANTED NAME ID TOKEN}, or
 *       {@code REFUSED NAME ID} and why.
 *   <li>{@code crowd ID FIRST END NAME SHARE HEAD_START_SECONDS}: the same for a number of callers. The number is added to the id, and to
 *       a share that ends with a slash.
 *   <li>{@code release ID}: a caller releases its permit.
 *   <li>{@code again NAME SHARE FIRST END HOLD_MILLIS}: callers that hold their permit for so long at most. Each begins to wait anew
 *       before it releases. They say {@code SERVED NAME SHARE#CALLER TOKEN WAITED_MICROS HOLD_MILLIS}.
 *   <li>{@code end NAME}: they begin to wait no more.
 * </ul>
 */
final class ShareCallersProcess {

    /** The number in the name of a share is its weight. */
    static final Map<String, Integer> WEIGHTS =
            Map.of("b5", 5, "c3", 3, "A5", 5, "B3", 3, "C2", 2, "t/u4", 4, "m3", 3, "h6", 6);

    static final Duration WAIT_TIME = Duration.ofMinutes(10);

    private final Node node;
    private final Map<String, PermitGrant> held = new ConcurrentHashMap<>();
    private final Set<String> ended = ConcurrentHashMap.newKeySet();
    private final ScheduledExecutorService holders = Executors.newScheduledThreadPool(4);

    private ShareCallersProcess(Node node) {
        this.node = node;
    }

    static SemaphoreSettings settings() {
        return TestSettings.defaults().with(SemaphoreSettings.WEIGHTS, PerSemaphore.all(WEIGHTS));
    }

    /** Without arguments. */
    public static void main(String[] arguments) throws IOException {
        Schema schema = TestDatabase.handedOver();
        try (schema;
                Node node = Node.on(schema, settings());
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            ShareCallersProcess process = new ShareCallersProcess(node);
            System.out.println("READY " + System.currentTimeMillis());
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                process.obey(line.split(" "));
            }
            process.holders.shutdownNow();
        }
    }

    private void obey(String[] words) {
        switch (words[0]) {
            case "wait" ->
                begin(
                        words[1],
                        request(words[2], words[3], words[4])
                                .withWaitTime(Duration.ofMillis(Long.parseLong(words[5]))));
            case "crowd" -> {
                for (int i = Integer.parseInt(words[2]); i < Integer.parseInt(words[3]); i++) {
                    begin(words[1] + i, request(words[4], words[5].endsWith("/") ? words[5] + i : words[5], words[6]));
                }
            }
            case "release" -> {
                PermitGrant grant = held.remove(words[1]);
                holders.execute(grant::release);
            }
            case "again" -> {
                for (int i = Integer.parseInt(words[3]); i < Integer.parseInt(words[4]); i++) {
                    String share = words[2].endsWith("/") ? words[2] + i : words[2];
                    again(request(words[1], share, "0"), share + "#" + i, Integer.parseInt(words[5]));
                }
            }
            case "end" -> ended.add(words[1]);
            default -> throw new IllegalArgumentException(String.join(" ", words));
        }
    }

    private static AcquireRequest request(String name, String share, String headStart) {
        AcquireRequest request = AcquireRequest.of(name)
                .withWaitTime(WAIT_TIME)
                .withHeadStart(Duration.ofSeconds(Long.parseLong(headStart)));
        return share.equals("-") ? request : request.withShare(share);
    }

    private void begin(String id, AcquireRequest request) {
        String name = request.permits().keySet().iterator().next();
        var unused = node.semaphores().acquireAsync(request.withExternalId(id)).whenComplete((grant, failure) -> {
            if (grant == null) {
                System.out.println("REFUSED " + name + " " + id + " " + failure);
            } else {
                held.put(id, grant);
                System.out.println("GRANTED " + name + " " + id + " " + grant.fencingToken(name));
            }
        });
    }

    private void again(AcquireRequest request, String caller, int mostMillis) {
        String name = request.permits().keySet().iterator().next();
        long begun = System.nanoTime();
        var unused = node.semaphores().acquireAsync(request).whenComplete((grant, failure) -> {
            if (grant == null) {
                System.out.println("REFUSED " + name + " " + caller + " " + failure);
                return;
            }
            long waited = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - begun);
            long token = grant.fencingToken(name);
            int hold = new SplittableRandom(token / 8).nextInt(1, mostMillis + 1); // the same for whoever has turns
            System.out.println("SERVED %s %s %d %d %d".formatted(name, caller, token, waited, hold));
            holders.execute(() -> {
                if (!ended.contains(name)) {
                    again(request, caller, mostMillis);
                }
            });
            var release = holders.schedule(grant::release, hold, TimeUnit.MILLISECONDS);
        });
    }
}
