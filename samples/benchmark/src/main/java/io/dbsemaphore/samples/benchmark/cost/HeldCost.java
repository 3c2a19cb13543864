package io.dbsemaphore.samples.benchmark.cost;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.samples.benchmark.contestant.LibraryContestant;
import io.dbsemaphore.samples.benchmark.database.Tables;
import io.dbsemaphore.samples.benchmark.database.Target;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** By how many permits of the semaphore are held. */
public final class HeldCost implements Cost {

    private static final String PREFIX = Tables.PREFIX + "held_";

    private final Target target;
    private final Tables tables;
    private final List<Integer> sizes;
    private final Probe probe;

    /** With so many held, ascending. */
    public HeldCost(Target target, Tables tables, List<Integer> sizes, Probe probe) {
        this.target = target;
        this.tables = tables;
        this.sizes = sizes;
        this.probe = probe;
    }

    @Override
    public List<CostResult> measure() throws Exception {
        tables.makeLibraryTables(PREFIX);
        try (LibraryContestant library = new LibraryContestant(target, PREFIX, 1)) {
            List<Variant> variants = new ArrayList<>();
            for (int size : sizes) {
                library.prepare(size, size + 1);
                hold(library, size);
                variants.add(new Variant(library, size));
            }
            probe.measure(variants);
            List<CostResult> results = new ArrayList<>();
            for (int i = 0; i < sizes.size(); i++) {
                results.add(variants.get(i).result(Kind.HELD, sizes.get(i), "%,d held".formatted(sizes.get(i))));
            }
            return results;
        }
    }

    /** One by the library, the others copied from it. */
    private void hold(LibraryContestant library, int permits) throws SQLException {
        PermitGrant original = library.acquireForGood(permits);
        if (permits > 1) {
            try (HikariDataSource pool = target.pool("held", 2)) {
                new RowCopies(pool, PREFIX).copy(original.externalId(), permits - 1);
            }
        }
    }
}
