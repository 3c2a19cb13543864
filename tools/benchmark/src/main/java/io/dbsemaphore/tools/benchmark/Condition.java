package io.dbsemaphore.tools.benchmark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;

/** What a reader must know about a run to judge its figures and to repeat it. */
enum Condition {
    DATE,
    MACHINE,
    DATABASE,
    DURABILITY,
    REDIS,
    JAVA,
    LIBRARIES,
    ROUNDS,
    COMMAND;

    private static final Path PROCESSORS = Path.of("/proc/cpuinfo");

    /**
     * Those of this run.
     *
     * @param redis the Redis of the run, as it describes itself; null without one
     */
    static Map<Condition, String> of(Options options, Server server, @Nullable String redis) throws IOException {
        Map<Condition, String> conditions = new EnumMap<>(Condition.class);
        conditions.put(DATE, LocalDate.now(ZoneId.systemDefault()).toString());
        conditions.put(MACHINE, machine());
        conditions.put(DATABASE, server.product());
        conditions.put(DURABILITY, server.durability());
        if (redis != null) {
            conditions.put(REDIS, redis);
        }
        conditions.put(JAVA, "Java " + System.getProperty("java.version"));
        conditions.put(
                LIBRARIES,
                Stream.of(JdbcLockRegistry.class, JdbcTemplateLockProvider.class, Redisson.class)
                        .map(Condition::jar)
                        .collect(Collectors.joining(", ")));
        conditions.put(
                ROUNDS,
                "medians of %d rounds of %s s in turn"
                        .formatted(options.rounds(), seconds(options.length(Scenario.ONE_THREAD))));
        conditions.put(
                COMMAND,
                "mvn -pl tools/benchmark -am spring-boot:run -Dmaven.test.skip -Dspring-boot.run.arguments=\"%s\""
                        .formatted(String.join(" ", withoutSecrets(options.arguments()))));
        return conditions;
    }

    private static String machine() throws IOException {
        String processors = Runtime.getRuntime().availableProcessors() + " processors";
        if (Files.isReadable(PROCESSORS)) {
            try (Stream<String> lines = Files.lines(PROCESSORS)) {
                processors += lines.filter(line -> line.startsWith("model name"))
                        .findFirst()
                        .map(line ->
                                " (" + line.substring(line.indexOf(':') + 1).strip() + ")")
                        .orElse("");
            }
        }
        return processors + ", " + System.getProperty("os.name");
    }

    /** The name and the version of the jar from which this class was loaded. */
    private static String jar(Class<?> type) {
        String path = type.getProtectionDomain().getCodeSource().getLocation().getPath();
        return path.replaceFirst(".*/", "").replaceFirst("\\.jar$", "").replaceFirst("-(?=\\d)", " ");
    }

    /** The parameters of a URL may contain a password, too. */
    private static List<String> withoutSecrets(List<String> arguments) {
        return arguments.stream()
                .map(argument -> argument.replaceFirst("^(--password=|--url=[^?]*\\?).*", "$1***"))
                .toList();
    }

    private static String seconds(Duration duration) {
        return String.valueOf(duration.toMillis() / 1000.0).replaceFirst("\\.0$", "");
    }
}
