package io.dbsemaphore.tools.faults.client;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.tools.faults.Workload;
import io.dbsemaphore.tools.faults.oracle.Event.Kind;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Writes the fencing token of its permit to a row under {@code requireHeld}, several times for each grant, and often pauses in
 * between until the TTL has passed.
 */
final class LedgerWriter implements Runnable {

    private static final Duration TTL = Duration.ofMillis(1200);
    private static final Duration WAIT = Duration.ofSeconds(3);
    private static final int WRITES = 20;

    private final Caller caller;
    private final SemaphoreOperations semaphores;
    private final TransactionTemplate transaction;
    private final JdbcTemplate jdbc;
    private final Random random;
    private final CountDownLatch stopped;

    LedgerWriter(
            Caller caller,
            SemaphoreOperations semaphores,
            TransactionTemplate transaction,
            JdbcTemplate jdbc,
            Random random,
            CountDownLatch stopped) {
        this.caller = caller;
        this.semaphores = semaphores;
        this.transaction = transaction;
        this.jdbc = jdbc;
        this.random = random;
        this.stopped = stopped;
    }

    @Override
    public void run() {
        try {
            while (stopped.getCount() > 0) {
                String name = Workload.ledger(random.nextInt(Workload.LEDGERS));
                String request = caller.newRequest();
                AcquireRequest wanted = AcquireRequest.of(name)
                        .withKeepAlive(false)
                        .withTtl(TTL)
                        .withWaitTime(WAIT);
                Optional<PermitGrant> grant = caller.acquire(request, wanted, Map.of(name, 1L));
                if (grant.isPresent()) {
                    writeAll(request, name, grant.get());
                    caller.release(request, grant.get());
                } else {
                    pause(50);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void writeAll(String request, String name, PermitGrant grant) throws InterruptedException {
        for (int write = 0; write < WRITES && stopped.getCount() > 0; write++) {
            if (random.nextInt(WRITES) == 0) {
                caller.tellFault("holder-paused-beyond-ttl");
                pause(TTL.toMillis() + random.nextInt(1000));
            }
            if (!write(request, name, grant)) {
                return;
            }
        }
    }

    /** Returns whether the permit is held, as far as this shows it. */
    private boolean write(String request, String name, PermitGrant grant) {
        caller.tell(Kind.WRITING, request, "");
        try {
            long token = Objects.requireNonNull(transaction.execute(status -> {
                semaphores.requireHeld(grant);
                Long written = jdbc.queryForObject(
                        "select token from faults_ledger where name = ? for update", Long.class, name);
                jdbc.update("update faults_ledger set token = ? where name = ?", grant.fencingToken(), name);
                return Objects.requireNonNull(written);
            }));
            caller.tell(Kind.WRITTEN, request, "");
            if (token > grant.fencingToken()) {
                caller.tell(Kind.STALE_WRITE, request, "wrote " + grant.fencingToken() + " over " + token);
            }
            return true;
        } catch (PermitLostException lost) {
            caller.tell(Kind.WRITE_REFUSED, request, "");
            return false;
        } catch (RuntimeException failure) {
            caller.tell(Kind.WRITE_FAILED, request, failure.getClass().getSimpleName());
            return true;
        }
    }

    private void pause(long millis) throws InterruptedException {
        boolean unused = stopped.await(millis, TimeUnit.MILLISECONDS);
    }
}
