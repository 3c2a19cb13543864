package io.dbsemaphore.samples.benchmark;

import io.dbsemaphore.samples.benchmark.database.DatabaseContainer;

/** Runs the benchmark from the command line. */
public final class BenchmarkApplication {

    private static final int MISUNDERSTOOD = 2;

    private BenchmarkApplication() {}

    /** Runs what the arguments ask for; {@link Options#USAGE} says what they may be. */
    public static void main(String[] arguments) throws Exception {
        Console console = new Console(System.out);
        Options options;
        try {
            options = Options.parse(arguments);
        } catch (IllegalArgumentException problem) {
            console.misunderstood(String.valueOf(problem.getMessage()));
            System.exit(MISUNDERSTOOD);
            return;
        }
        if (options.target().isPresent()) {
            new Benchmark(options, options.target().get(), console).run();
        } else {
            try (DatabaseContainer container = new DatabaseContainer()) {
                new Benchmark(options, container.target(), console).run();
            }
        }
        System.exit(0); // whatever threads a library has left behind
    }
}
