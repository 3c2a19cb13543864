package io.dbsemaphore.samples.benchmark.cost;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.samples.benchmark.contestant.LibraryContestant;
import io.dbsemaphore.samples.benchmark.database.Tables;
import io.dbsemaphore.samples.benchmark.database.Target;
import java.util.List;

/**
 * Before and after many releases that the server cannot clean up, since somebody still reads as of before them: a dump, a
 * report. Each round has a semaphore of its own.
 */
public final class SnapshotCost implements Cost {

    private static final String PREFIX = Tables.PREFIX + "snap_";

    private final Target target;
    private final Tables tables;
    private final int releases;
    private final Probe probe;

    /** With so many releases. */
    public SnapshotCost(Target target, Tables tables, int releases, Probe probe) {
        this.target = target;
        this.tables = tables;
        this.releases = releases;
        this.probe = probe;
    }

    @Override
    public List<CostResult> measure() throws Exception {
        tables.makeLibraryTables(PREFIX);
        try (LibraryContestant library = new LibraryContestant(target, PREFIX, 1);
                HikariDataSource pool = target.pool("snapshot", 3)) {
            Variant before = new Variant(library, 0);
            Variant after = new Variant(library, 0);
            for (int round = 1; round <= probe.rounds(); round++) {
                library.prepare(round, releases + 10);
                measureRound(library, pool, round, before, after);
            }
            return List.of(
                    before.result(Kind.SNAPSHOT, 0, "before"),
                    after.result(Kind.SNAPSHOT, releases, "after %,d releases".formatted(releases)));
        }
    }

    private void measureRound(
            LibraryContestant library, HikariDataSource pool, long semaphore, Variant before, Variant after)
            throws Exception {
        before.add(measure(library, semaphore));
        RowCopies rows = new RowCopies(pool, PREFIX);
        PermitGrant original = library.acquireForGood(semaphore);
        RowCopies.Copies copies = rows.copy(original.externalId(), releases);
        try (Snapshot snapshot = new Snapshot(pool)) {
            rows.release(copies);
            original.release();
            after.add(measure(library, semaphore));
        }
    }

    private Variant measure(LibraryContestant library, long semaphore) throws Exception {
        Variant variant = new Variant(library, semaphore);
        probe.warmUp(List.of(variant));
        probe.round(List.of(variant), probe.length());
        return variant;
    }
}
