package io.dbsemaphore.tools.benchmark;

import io.dbsemaphore.tools.benchmark.approach.Approach;
import io.dbsemaphore.tools.benchmark.approach.Target;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What to measure, and where: the options of the command line with their defaults.
 *
 * @param values by name, with defaults
 * @param arguments as they were given
 */
record Options(Map<String, String> values, List<String> arguments) {

    private static final List<Approach> APPROACHES = List.of(Approach.values());

    static final String USAGE = """
            --url=jdbc:...        the database to measure on, an empty one or one for tests: tables bench_* are dropped and
            --user= --password=     created. Without a URL: MySQL 9.7 in a container
            --server-pid=         the process of the server, on this machine: its CPU time is reported, too
            --earlier=PATH        an earlier build of semaphore-core to compare with: its jar, or target/classes
            --only=a,b            of %s
            --approaches=a,b      of %s
            --redis=redis://...   measures Redisson, too
            --delay=0,500us,2ms   how much longer a round trip to the servers takes; measures each of these. 0 is no delay
            --seconds=5           the length of one round of one case; without it 15 in %s
            --rounds=5            the rounds of each case
            --warm-up=45          the seconds that each approach runs in a new JVM before the first round
            --rows-divisor=1      divides the numbers of rows in held, history and snapshot
            --quick               the same as --seconds=0.7 --rounds=2 --warm-up=3 --rows-divisor=10
            --output=DIRECTORY    for results.md and results.csv; by default target/benchmark
            --svg=FILE.svg        draws a picture, and writes its figures to FILE.csv; without other options the same as
                                    --seconds=5 --rounds=3 --warm-up=5
                                    --only=%s
            --redraw              draws that picture again from FILE.csv, and measures nothing
            """.formatted(
                    names(Scenario.measured(), Scenario::id),
                    names(APPROACHES, Approach::id),
                    Scenario.REUSE_1000_IN_STEP.id(),
                    names(Picture.SCENARIOS, Scenario::id));

    private static final Map<String, String> DEFAULTS =
            Map.of("rounds", "5", "warm-up", "45", "rows-divisor", "1", "delay", "0", "output", "target/benchmark");
    private static final Map<String, String> QUICK =
            Map.of("seconds", "0.7", "rounds", "2", "warm-up", "3", "rows-divisor", "10");

    private static final Map<String, String> SVG = Map.of(
            "seconds",
            "5",
            "rounds",
            "3",
            "warm-up",
            "5",
            "only",
            names(Picture.SCENARIOS, Scenario::id),
            "approaches",
            names(Picture.APPROACHES, Approach::id));

    private static final Pattern DELAY = Pattern.compile("0|(\\d+(?:\\.\\d+)?)(us|ms)");
    private static final Duration LONGEST_DELAY = Duration.ofSeconds(1);

    private static final Set<String> NAMES = Pattern.compile("--[a-z-]+")
            .matcher(USAGE)
            .results()
            .map(MatchResult::group)
            .collect(Collectors.toSet());

    /** @throws IllegalArgumentException saying what is wrong */
    static Options parse(String... arguments) {
        Map<String, String> values = new HashMap<>(DEFAULTS);
        if (Arrays.stream(arguments).anyMatch(argument -> argument.startsWith("--svg="))) {
            values.putAll(SVG);
        }
        if (List.of(arguments).contains("--quick")) {
            values.putAll(QUICK);
        }
        for (String argument : arguments) {
            String[] parts = argument.split("=", 2);
            if (!NAMES.contains(parts[0])) {
                throw new IllegalArgumentException("Unknown option: " + argument);
            }
            values.put(parts[0].substring(2), parts.length == 2 ? parts[1] : "");
        }
        Options options = new Options(values, List.of(arguments));
        options.scenarios();
        options.approaches();
        options.delays();
        options.checkSvg();
        return options;
    }

    /** Before a long run that could not write its picture. */
    private void checkSvg() {
        String svg = value("svg");
        if ((values.containsKey("svg") || redraws()) && !svg.endsWith(".svg")) {
            throw new IllegalArgumentException("--svg= takes the name of a file that ends with .svg");
        }
        Path directory = Path.of(svg).toAbsolutePath().resolveSibling("");
        if (!Files.isDirectory(directory)) {
            throw new IllegalArgumentException("--svg=%s: there is no directory %s".formatted(svg, directory));
        }
    }

    /** The database; with an empty URL a container is to be started. */
    Target target() {
        return new Target(value("url"), value("user"), value("password"), redis());
    }

    @Nullable String redis() {
        return values.get("redis");
    }

    /** The process of the server; null where it is unknown. */
    @Nullable Long serverPid() {
        return value("server-pid").isEmpty() ? null : Long.valueOf(value("server-pid"));
    }

    /** These options, with that process of the server unless they name one. */
    Options withServer(@Nullable Long processId) {
        Map<String, String> copy = new HashMap<>(values);
        if (processId != null) {
            copy.putIfAbsent("server-pid", processId.toString());
        }
        return new Options(copy, arguments);
    }

    /** The jar or the classes of an earlier build of the library; empty without one. */
    String earlierBuild() {
        return value("earlier");
    }

    List<Scenario> scenarios() {
        return some("only", Scenario.measured(), Scenario::id);
    }

    List<Approach> approaches() {
        return some("approaches", APPROACHES, Approach::id).stream()
                .filter(approach -> approach != Approach.REDISSON || redis() != null)
                .filter(approach ->
                        approach != Approach.NOTIFIED || value("url").startsWith("jdbc:postgresql:"))
                // the library sends its statements one by one to the driver of MariaDB
                .filter(approach ->
                        approach != Approach.PLAIN_STATEMENTS || !value("url").startsWith("jdbc:mariadb:"))
                .toList();
    }

    /** How much longer a round trip to the servers is to take: one or several, each once. */
    List<Duration> delays() {
        return Arrays.stream(value("delay").split(",", -1))
                .map(this::delay)
                .distinct()
                .toList();
    }

    private Duration delay(String text) {
        Matcher delay = DELAY.matcher(text);
        if (delay.matches()) {
            BigDecimal number = delay.group(1) == null ? BigDecimal.ZERO : new BigDecimal(delay.group(1));
            BigDecimal micros = number.scaleByPowerOfTen("ms".equals(delay.group(2)) ? 3 : 0);
            Duration duration = Duration.of(micros.longValue(), ChronoUnit.MICROS);
            if (duration.compareTo(LONGEST_DELAY) <= 0) {
                return duration;
            }
        }
        throw new IllegalArgumentException(
                "--delay=%s: it takes 0, or numbers of us or ms up to 1000ms, such as 0,500us,2ms"
                        .formatted(value("delay")));
    }

    /** The length of one round of one case. */
    Duration length(Scenario scenario) {
        return value("seconds").isEmpty() ? scenario.length() : seconds("seconds");
    }

    Duration warmUp() {
        return seconds("warm-up");
    }

    int rounds() {
        return Integer.parseInt(value("rounds"));
    }

    int rowsDivisor() {
        return Integer.parseInt(value("rows-divisor"));
    }

    Path output() {
        return Path.of(value("output"));
    }

    /** The picture to draw; null without one. */
    @Nullable Path svg() {
        return value("svg").isEmpty() ? null : Path.of(value("svg"));
    }

    /** Whether the picture is only to be drawn again. */
    boolean redraws() {
        return values.containsKey("redraw");
    }

    private String value(String name) {
        return values.getOrDefault(name, "");
    }

    private Duration seconds(String name) {
        return Duration.ofMillis(Math.round(Double.parseDouble(value(name)) * 1000));
    }

    private <T> List<T> some(String option, List<T> all, Function<T, String> name) {
        String list = values.getOrDefault(option, names(all, name));
        List<String> wanted = Arrays.asList(list.split(","));
        List<T> found =
                all.stream().filter(one -> wanted.contains(name.apply(one))).toList();
        if (found.size() < wanted.size()) {
            throw new IllegalArgumentException(
                    "--%s=%s: it takes some of %s".formatted(option, list, names(all, name)));
        }
        return found;
    }

    private static <T> String names(List<T> all, Function<T, String> name) {
        return String.join(",", all.stream().map(name).toList());
    }
}
