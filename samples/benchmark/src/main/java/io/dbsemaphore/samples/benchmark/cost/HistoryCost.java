package io.dbsemaphore.samples.benchmark.cost;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.samples.benchmark.contestant.LibraryContestant;
import io.dbsemaphore.samples.benchmark.database.Tables;
import io.dbsemaphore.samples.benchmark.database.Target;
import java.util.ArrayList;
import java.util.List;

/** By how many requests of the same semaphore were released before. Each size has tables of its own. */
public final class HistoryCost implements Cost {

    private static final long SEMAPHORE = 1;
    private static final int CAPACITY = 10;

    private final Target target;
    private final Tables tables;
    private final List<Integer> sizes;
    private final Probe probe;

    /** With so many released, ascending. */
    public HistoryCost(Target target, Tables tables, List<Integer> sizes, Probe probe) {
        this.target = target;
        this.tables = tables;
        this.sizes = sizes;
        this.probe = probe;
    }

    @Override
    public List<CostResult> measure() throws Exception {
        List<LibraryContestant> engines = new ArrayList<>();
        try {
            List<Variant> variants = new ArrayList<>();
            for (int size : sizes) {
                LibraryContestant library = open(size);
                engines.add(library);
                variants.add(new Variant(library, SEMAPHORE));
            }
            probe.measure(variants);
            List<CostResult> results = new ArrayList<>();
            for (int i = 0; i < sizes.size(); i++) {
                results.add(variants.get(i).result(Kind.HISTORY, sizes.get(i), "%,d released".formatted(sizes.get(i))));
            }
            return results;
        } finally {
            engines.forEach(LibraryContestant::close);
        }
    }

    private LibraryContestant open(int released) throws Exception {
        String prefix = "%sh%d_".formatted(Tables.PREFIX, released);
        tables.makeLibraryTables(prefix);
        LibraryContestant library = new LibraryContestant(target, prefix, 1);
        library.prepare(SEMAPHORE, CAPACITY);
        if (released > 0) {
            PermitGrant original = library.acquireForGood(SEMAPHORE);
            original.release();
            try (HikariDataSource pool = target.pool("history", 2)) {
                new RowCopies(pool, prefix).copy(original.externalId(), released);
            }
        }
        return library;
    }
}
