package io.dbsemaphore.samples.benchmark.cost;

import java.util.List;

/** Measures the acquire of one thread on tables that are more and more full. */
public interface Cost {

    /** What is varied. */
    enum Kind {
        HELD("held", "permits held of the semaphore"),
        HISTORY("history", "released requests in the tables"),
        SNAPSHOT("snapshot", "releases while an old snapshot is open");

        private final String id;
        private final String title;

        Kind(String id, String title) {
            this.id = id;
            this.title = title;
        }

        /** Its name on the command line. */
        public String id() {
            return id;
        }

        /** Its name in tables. */
        public String title() {
            return title;
        }
    }

    /** One result for each size, ascending. */
    List<CostResult> measure() throws Exception;
}
