package io.dbsemaphore.persistence;

import io.dbsemaphore.admin.SemaphoreAdmin.PermitUse;
import io.dbsemaphore.domain.StoredGrant;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.springframework.data.domain.Limit;

/**
 * Finds the requests that held permits of a semaphore within a period. No index has the times of requests: this would cost
 * each acquire and release. But the tokens of a semaphore grow with time, so that the end of the period is found by a binary
 * search over tokens, and the requests before it by a scan of limited length.
 */
final class PermitUses {

    /**
     * How many released permits the scan passes at most, or as many as are asked for. A longer scan would find only requests
     * that were held for long.
     */
    private static final int SCANNED = 2_000;

    private final SemaphoreReports reports;

    PermitUses(SemaphoreReports reports) {
        this.reports = reports;
    }

    /** The requests of the period, the last acquired first. Requires an open transaction. */
    List<PermitUse> find(long semaphoreId, Instant from, Instant to, int limit) {
        LocalDateTime begin = StoredGrant.utc(from);
        LocalDateTime end = StoredGrant.utc(to);
        Stream<SemaphoreReports.Use> held = reports.findUses(semaphoreId, end, Limit.of(limit)).stream();
        Stream<SemaphoreReports.Use> released = reports
                .findUses(
                        semaphoreId, lastToken(semaphoreId, end), begin, end, Math.max(SCANNED, limit), Limit.of(limit))
                .stream();
        return Stream.concat(held, released)
                .sorted(Comparator.comparingLong(SemaphoreReports.Use::token).reversed())
                .limit(limit)
                .map(SemaphoreReports.Use::toContract)
                .toList();
    }

    /** The highest token among the released permits that were acquired until then; 0 if there is none. */
    private long lastToken(long semaphoreId, LocalDateTime until) {
        Optional<SemaphoreReports.Token> newest = newest(semaphoreId, Long.MAX_VALUE);
        if (newest.isEmpty()) {
            return 0;
        }
        if (!newest.get().acquiredAt().isAfter(until)) {
            return newest.get().token();
        }
        long low = reports.findFirstToken(semaphoreId).map(first -> first - 1).orElse(0L);
        long high = newest.get().token() - 1;
        while (low < high) {
            long middle = low + (high - low + 1) / 2;
            Optional<SemaphoreReports.Token> found = newest(semaphoreId, middle);
            if (found.isPresent() && found.get().acquiredAt().isAfter(until)) {
                high = found.get().token() - 1;
            } else {
                low = middle;
            }
        }
        return low;
    }

    private Optional<SemaphoreReports.Token> newest(long semaphoreId, long upTo) {
        return reports.findTokens(semaphoreId, upTo, Limit.of(1)).stream().findFirst();
    }
}
