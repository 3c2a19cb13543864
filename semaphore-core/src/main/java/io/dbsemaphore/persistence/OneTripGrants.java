package io.dbsemaphore.persistence;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.Allocation;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantBatch;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.HeldSum;
import io.dbsemaphore.domain.LockedSemaphore;
import io.dbsemaphore.domain.PermitState;
import io.dbsemaphore.domain.SemaphoreAvailability;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import io.dbsemaphore.jdbc.SqlErrorKind;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.Demand;
import io.dbsemaphore.line.WaitersElsewhere;
import io.dbsemaphore.persistence.unit.CommitOutcomeUnknownException;
import io.dbsemaphore.persistence.unit.Sql;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Grants the acquires of a batch in one round trip where that will probably succeed: one text locks the row of the semaphore,
 * inserts the requests if all of them fit and nobody waits, raises the fence and inserts the permits if the requests were inserted, and
 * commits. It grants all acquires or none. After a refusal, which changes nothing but the releases that come first, another batch decides
 * in two round trips.
 *
 * <p>One round trip is tried for acquires of one semaphore, with a driver that pipelines, if a round trip takes longer than the larger
 * statements cost. After a refusal, a locked row, or a batch that met waiting callers, it is not tried for the next batches of that
 * semaphore.
 *
 * <p>The condition is evaluated by a statement after the lock, so that it sees what others have committed meanwhile. It counts permits from
 * a token on that an earlier answer gave. Nothing below that token can be held unless the fence has fallen, which the condition checks.
 *
 * <p>A text without an answer may still wait for the lock, and grant later. Therefore its acquires are claimed before it is sent, so that
 * none is withdrawn while the text waits. Their outcome is unknown, as after a lost commit. If the client has gone, MySQL executes the rest
 * of the text, in which {@code row_count()} may be -1; therefore each statement depends on rows.
 */
final class OneTripGrants {

    private static final Logger log = LoggerFactory.getLogger(OneTripGrants.class);

    /** The number of batches that take two round trips after one round trip was refused, or would have been. */
    static final int SKIPPED = 16;

    private static final int MAX_KNOWN = 10_000;

    /** Shorter than the promotion of a replica that lacks the last grants: its fence would be lower, and tokens would be used again. */
    private static final long MAX_AGE_NANOS = Duration.ofSeconds(1).toNanos();

    /**
     * Inserts all requests or none. Sums what is held now, from a token on: nothing below it was held when this JVM last read the row, or
     * can have been held since. With the row's own watermark instead, MySQL would read all entries of the index that are not purged yet.
     */
    private static final String INSERT_REQUESTS = """
            insert into permit_request(id, external_id, owner, label, share_path, instance, state, content_digest, ttl_millis,
                expires_at, renewed_at, created_at, updated_at)
            select %s, utc_plus_millis(c.now, %s), c.now, c.now, c.now from %ssemaphore s, (select utc_now() as now) c
            where s.id = ? and s.fence >= ? and (s.waiters_until is null or s.waiters_until <= c.now)
              and s.capacity >= ? + (select coalesce(sum(p.count), 0) + coalesce(max(p.exclusive), 0) * 2147483647 from permit p
                where p.semaphore_id = ? and p.state = 'ACQUIRED' and p.token >= ?)""";

    private static final String RAISE_FENCE = """
            update semaphore set live_from = greatest(live_from, ?), fence = fence + ?,
                updated_at = (select r.created_at from permit_request r where r.id = ?)
            where id = ? and exists (select 1 from permit_request r where r.id = ?)""";

    private static final String INSERT_PERMITS = """
            insert into permit(id, semaphore_id, permit_request_id, count, exclusive, state, token)
            select %s, s.id, r.id, %s, 0, 'ACQUIRED', s.fence - %s from %spermit_request r, semaphore s where r.id = %s and s.id = ?""";

    /** The index in {@link PermitRequest#toRow} of {@code ttl_millis}, from which the expiry is computed. */
    private static final int TTL = 8;

    private final Tables tables;
    private final long worthwhile;
    private final Map<String, Known> known = new ConcurrentHashMap<>();
    /** Whether a server, proxy or filter has rejected the text. */
    private volatile boolean rejected;

    /**
     * What this JVM knows of a semaphore.
     *
     * @param fence its fence at that time, which has been no lower since
     * @param liveFrom a token below which nothing has been held since
     * @param skips the number of batches for which one round trip is not tried
     * @param readAt when the row was read, by {@link System#nanoTime()}
     */
    private record Known(long id, long fence, long liveFrom, int skips, long readAt) {

        private Known skipping(int batches) {
            return new Known(id, fence, liveFrom, batches, readAt);
        }

        private boolean isOld() {
            return System.nanoTime() - readAt > MAX_AGE_NANOS;
        }
    }

    /**
     * Creates an instance.
     *
     * @param from the shortest round trip that is worth saving
     */
    OneTripGrants(Tables tables, Duration from) {
        this.tables = tables;
        worthwhile = from.toNanos();
    }

    /**
     * Claims the acquires of a batch, to grant them in one round trip; returns null if that is not to be tried.
     */
    @Nullable Attempt begin(GrantBatch batch) {
        if (rejected
                || batch.acquires().isEmpty()
                || !tables.sql().isPipelined()
                || tables.sql().nanosOfRoundTrip() < worthwhile) {
            return null;
        }
        String name = batch.acquires().get(0).charges().keySet().iterator().next();
        Known last = known.get(name);
        if (last == null || last.isOld() || !batch.queues().of(name).isEmpty()) {
            return null;
        }
        if (last.skips() > 0) {
            known.replace(name, last, last.skipping(last.skips() - 1));
            return null;
        }
        for (AcquireState acquire : batch.acquires()) {
            if (!isSuitable(acquire, name)) {
                return null;
            }
        }
        if (!batch.acquires().stream().allMatch(AcquireState::claim)) {
            batch.acquires().forEach(AcquireState::unclaim);
            return null;
        }
        return new Attempt(batch, last, name);
    }

    private static boolean isSuitable(AcquireState acquire, String name) {
        Ask ask = acquire.charges().get(name);
        return ask != null
                && !ask.exclusive()
                && !acquire.isOfSeveral()
                && !acquire.mayExist()
                && !acquire.hasWaited()
                && acquire.attempt().failures() == 0
                && acquire.attempt().blockedBy() == null
                && acquire.tokens() == 1
                && acquire.command().ttl() != null
                && acquire.demandAhead(name).equals(Demand.NONE);
    }

    /** Records a decision that two round trips have committed. If callers wait or were refused, one round trip would be refused, too. */
    void decided(Allocation decision) {
        Map<Long, Long> tokens = decision.tokens();
        decision.availabilities().forEach((name, each) -> {
            boolean skip = decision.hasRefusals() || each.semaphore().mayBeAwaited(each.now());
            know(name, each, tokens.getOrDefault(each.semaphoreId(), 0L), skip);
        });
    }

    private void know(String name, SemaphoreAvailability read, long granted, boolean skip) {
        if (known.size() > MAX_KNOWN) {
            known.clear();
        }
        known.compute(
                name,
                (same, last) -> new Known(
                        read.semaphoreId(),
                        read.semaphore().fence() + granted,
                        read.liveFrom(),
                        skip ? SKIPPED : last == null ? 0 : last.skips(),
                        System.nanoTime()));
    }

    /** The grant of one batch, whose acquires are claimed. */
    final class Attempt {

        private final GrantBatch batch;
        private final Known last;
        private final long id;
        private final String name;
        private final List<Long> requestIds = new ArrayList<>();
        private final List<Long> permitIds = new ArrayList<>();
        private Supplier<Set<Long>> released = Set::of;
        private Supplier<List<LockedSemaphore>> locked = List::of;
        private Supplier<List<HeldSum>> sum = List::of;
        private Supplier<Integer> inserted = () -> 0;

        private Attempt(GrantBatch batch, Known last, String name) {
            this.batch = batch;
            this.last = last;
            this.id = last.id();
            this.name = name;
        }

        GrantBatch batch() {
            return batch;
        }

        /** Queues the statements. The text waits for a locked row only if the batch may; otherwise it fails at once. */
        void queue(Supplier<Set<Long>> queuedRelease) {
            released = queuedRelease;
            tables.sql().expectRejection();
            locked = tables.semaphores().queueLock(id, batch.awaited().contains(name));
            List<List<@Nullable Object>> requests = new ArrayList<>();
            List<List<@Nullable Object>> permits = new ArrayList<>();
            for (AcquireState acquire : batch.acquires()) {
                long requestId = tables.ids().next();
                acquire.addRequestId(requestId);
                requestIds.add(requestId);
                permitIds.add(tables.ids().next());
                List<@Nullable Object> row =
                        new PermitRequest(requestId, acquire, PermitState.ACQUIRED, LocalDateTime.MIN).toRow();
                requests.add(new ArrayList<>(row.subList(0, TTL + 1)));
                requests.get(requests.size() - 1).add(row.get(TTL));
                permits.add(List.of(
                        permitIds.get(permitIds.size() - 1),
                        count(acquire),
                        batch.acquires().size() - permitIds.size(),
                        requestId));
            }
            queueRequests(tables.sql().rows(requests));
            long first = requestIds.get(0);
            tables.sql().update(RAISE_FENCE, last.liveFrom(), requests.size(), first, id, first);
            inserted = queuePermits(tables.sql().rows(permits));
            sum = tables.permits().queueSumOfGranted(id, last.liveFrom());
        }

        private int count(AcquireState acquire) {
            return Objects.requireNonNull(acquire.charges().get(name)).count();
        }

        /** Returns the sum of the counts, which may exceed every capacity. */
        private long counts() {
            return batch.acquires().stream().mapToLong(this::count).sum();
        }

        private void queueRequests(Sql.Rows rows) {
            List<String> columns = rows.columns();
            tables.sql()
                    .update(
                            INSERT_REQUESTS.formatted(
                                    String.join(", ", columns.subList(0, TTL + 1)), columns.get(TTL + 1), rows.from()),
                            rows.valuesAnd(id, last.fence(), counts(), id, last.liveFrom()));
        }

        private Supplier<Integer> queuePermits(Sql.Rows rows) {
            List<String> columns = rows.columns();
            return tables.sql()
                    .update(
                            INSERT_PERMITS.formatted(
                                    columns.get(0), columns.get(1), columns.get(2), rows.from(), columns.get(3)),
                            rows.valuesAnd(id));
        }

        /**
         * Whether nothing was changed, so that another transaction may decide: the text was refused a lock without waiting, or it was
         * rejected, and is not tried again.
         */
        boolean isRefused(RuntimeException failure) {
            if (SqlErrors.is(failure, SqlErrorKind.LOCK_REFUSED)) {
                return true;
            }
            if (SqlErrors.is(failure, SqlErrorKind.LOCK_TIMEOUT)) { // PostgreSQL's error for a refused lock, too
                return batch.awaited().isEmpty();
            }
            boolean isRejected = SqlErrors.isAnswerOfServer(failure)
                    && Stream.of(SqlErrorKind.values()).noneMatch(kind -> SqlErrors.is(failure, kind));
            if (isRejected && !rejected) {
                rejected = true;
                log.info("Acquires take two round trips, since the statements for one were rejected", failure);
            }
            return isRejected;
        }

        /** Ends the claims after a failure with a known outcome: nothing was written. */
        void failed(RuntimeException failure) {
            known.put(name, last.skipping(SKIPPED));
            if (!(failure instanceof CommitOutcomeUnknownException)) {
                forgetRequests();
                batch.acquires().forEach(AcquireState::unclaim);
            }
        }

        /** Forgets the request ids, under which nothing was inserted, so that the next attempt does not look for them. */
        private void forgetRequests() {
            for (int i = 0; i < requestIds.size(); i++) {
                batch.acquires().get(i).removeRequestId(requestIds.get(i));
            }
        }

        /**
         * Returns, after the commit, what was granted; if nothing was, each acquire is undecided.
         *
         * @throws CommitOutcomeUnknownException if the results cannot be read: the next attempt looks for the rows
         */
        BatchResult result() {
            try {
                return read();
            } catch (RuntimeException unreadable) {
                throw new CommitOutcomeUnknownException(unreadable);
            }
        }

        private BatchResult read() {
            Map<Long, ReleaseOutcome> releases = new HashMap<>();
            released.get().forEach(each -> releases.put(each, ReleaseOutcome.RELEASED));
            if (inserted.get() == 0) {
                known.put(name, last.skipping(SKIPPED));
                forgetRequests();
                return new BatchResult(
                        Collections.nCopies(batch.acquires().size(), new GrantOutcome.Undecided()),
                        Map.of(),
                        List.of(),
                        releases,
                        System.nanoTime());
            }
            if (inserted.get() != permitIds.size()) {
                throw new IllegalStateException(
                        "%d of %d permits of '%s' were inserted".formatted(inserted.get(), permitIds.size(), name));
            }
            SemaphoreAvailability read = availability();
            know(name, read, permitIds.size(), false);
            Allocation allocation = Allocation.of(batch.acquires(), Map.of(name, read));
            List<GrantOutcome> outcomes = new ArrayList<>();
            for (int i = 0; i < requestIds.size(); i++) {
                Allocation.Share share = allocation.approvals().get(i).shares().get(0);
                StoredPermit permit = new StoredPermit(permitIds.get(i), id, name, share.count(), share.token());
                PermitRequest request = new PermitRequest(
                        requestIds.get(i), batch.acquires().get(i), PermitState.ACQUIRED, allocation.now());
                outcomes.add(new GrantOutcome.Granted(request.toGrant(List.of(permit)), false));
            }
            return new BatchResult(outcomes, allocation.remaining(), List.of(), releases, System.nanoTime());
        }

        /** Returns the availability before the grant. */
        private SemaphoreAvailability availability() {
            HeldSum after = sum.get().get(0);
            return new SemaphoreAvailability(
                    locked.get().get(0),
                    new HeldSum(id, after.held() - counts(), false, after.lowestToken(), after.now()),
                    WaitersElsewhere.NONE);
        }
    }
}
