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
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The main class of processes whose callers wait for the only permit of a semaphore, each with a share. It reads lines {@code NAME SHARE
 * CALLERS HEAD_START_SECONDS}: so many callers begin to wait.
 *
 * <p>A caller that is granted the permit says {@code GRANTED NAME SHARE TOKEN} and holds it for 1 to 5 ms. Meanwhile it has a lock of the
 * operating system on a file. It adds {@code OVERLAP} if another holder has that. A caller that is refused says {@code FAILED NAME SHARE}
 * and why.
 */
final class SharingProcess {

    static final Map<String, Integer> WEIGHTS =
            Map.of("light", 1, "medium", 3, "heavy", 6, "acme/light", 1, "acme/medium", 3, "acme/heavy", 6);

    private static final Duration WAIT_TIME = Duration.ofMinutes(5);

    private final Node node;
    private final FileChannel lockedByHolder;

    private SharingProcess(Node node, FileChannel lockedByHolder) {
        this.node = node;
        this.lockedByHolder = lockedByHolder;
    }

    static SemaphoreSettings settings() {
        return TestSettings.defaults().with(SemaphoreSettings.WEIGHTS, PerSemaphore.all(WEIGHTS));
    }

    /** Argument: the file that a holder locks. */
    public static void main(String[] arguments) throws IOException {
        Schema schema = TestDatabase.handedOver();
        try (schema;
                Node node = Node.on(schema, settings());
                FileChannel file =
                        FileChannel.open(Path.of(arguments[0]), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            SharingProcess process = new SharingProcess(node, file);
            System.out.println("READY");
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                process.obey(line.split(" "));
            }
        }
    }

    private void obey(String[] words) {
        AcquireRequest request = AcquireRequest.of(words[0])
                .withShare(words[1])
                .withWaitTime(WAIT_TIME)
                .withHeadStart(Duration.ofSeconds(Long.parseLong(words[3])));
        String caller = words[0] + " " + words[1] + " ";
        for (int i = 0; i < Integer.parseInt(words[2]); i++) {
            var unused = node.semaphores().acquireAsync(request).whenComplete((grant, failure) -> {
                if (grant == null) {
                    System.out.println("FAILED " + caller + failure);
                } else {
                    inBackground(() -> use(caller + grant.fencingToken(words[0]), grant));
                }
            });
        }
    }

    private void use(String caller, PermitGrant grant) {
        try (FileLock lock = tryLock()) {
            System.out.println("GRANTED " + caller + (lock == null ? " OVERLAP" : ""));
            LockSupport.parkNanos(
                    TimeUnit.MILLISECONDS.toNanos(ThreadLocalRandom.current().nextInt(1, 6)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        grant.release();
    }

    /** Locks the file; null if another process or another thread of this one has locked it. */
    private @Nullable FileLock tryLock() throws IOException {
        try {
            return lockedByHolder.tryLock();
        } catch (OverlappingFileLockException e) {
            return null;
        }
    }

    private static void inBackground(Runnable work) {
        Thread thread = new Thread(work, "holder");
        thread.setDaemon(true);
        thread.start();
    }
}
