package io.dbsemaphore.tools.benchmark;

import io.dbsemaphore.tools.benchmark.approach.Target;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.testcontainers.mysql.MySQLContainer;

/** Runs the benchmark from the command line. */
public final class BenchmarkApplication {

    private static final String IMAGE = "mysql:9.7";
    private static final int WRONG_OPTIONS = 2;

    private BenchmarkApplication() {}

    /** Runs what the arguments ask for; see {@link Options#USAGE}. */
    public static void main(String[] arguments) throws Exception {
        Options options;
        try {
            options = Options.parse(arguments);
        } catch (IllegalArgumentException problem) {
            System.out.println(problem.getMessage() + System.lineSeparator() + Options.USAGE);
            System.exit(WRONG_OPTIONS);
            return;
        }
        Path svg = options.svg();
        if (svg != null && options.redraws()) {
            Picture.draw(svg);
        } else if (options.target().url().isEmpty()) {
            runOnContainer(options);
        } else {
            new Benchmark(options, options.target(), System.out).run();
        }
        System.exit(0); // whatever threads libraries have left behind
    }

    /** On a container with the default settings of its image: full durability. */
    private static void runOnContainer(Options options) throws Exception {
        try (MySQLContainer container = new MySQLContainer(IMAGE)
                .withConfigurationOverride(null)
                .withUsername("root")
                .withPassword("benchmark")
                .withDatabaseName("benchmark")
                .withCommand("--max-connections=300")) {
            container.start();
            Target target = new Target(
                    container.getJdbcUrl(), container.getUsername(), container.getPassword(), options.redis());
            new Benchmark(options.withServer(processId(container)), target, System.out).run();
        }
    }

    /** The process of the server; null where the Docker engine runs on another machine. */
    private static @Nullable Long processId(MySQLContainer container) {
        Long processId = container.getCurrentContainerInfo().getState().getPidLong();
        return processId != null && Files.isReadable(Path.of("/proc", processId.toString(), "stat")) ? processId : null;
    }
}
