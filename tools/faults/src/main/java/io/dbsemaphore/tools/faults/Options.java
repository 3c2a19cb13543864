package io.dbsemaphore.tools.faults;

import io.dbsemaphore.tools.faults.attack.AttackPlan;
import io.dbsemaphore.tools.faults.attack.Pace;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The options of the command line with their defaults. */
record Options(Map<String, String> values) {

    static final String USAGE = """
            --seconds=60          how long clients and server are under attack
            --seed=1              of what the clients do, and of the attacks
            --clients=3           the number of client JVMs
            --threads=16          the workers of each client; two threads that write under requireHeld come in addition
            --sets=1              sets of semaphores; more of them, so that the order across clients limits the throughput less
            --lasting=0           how many of the clients are never killed, so that growth shows
            --cuts=0.01           the share of commits whose connection is cut, at any byte of the commit or of its answer
            --attacks=all         the only attacks, such as server-killed,client-frozen; what clients do to themselves goes on
            --pace=1              multiplies the time between two attacks of a kind; 1,client-killed=0.5 kills clients more often
            --instance-timeout=6  seconds without a heartbeat after which the permits of a client are reclaimed
            --database=mysql      the server in a container: mysql, mariadb or postgresql
            --disk=0              megabytes of the server's disk, in memory, which is then filled now and then; 0: the machine's
            --clocks=clients      whose clock is stepped, if libfaketime is installed: none, clients, or all with the server
            --tolerance=2         seconds by which a permit of a killed client may be late; more on a busy machine
            --earlier=            the jar of semaphore-core of an earlier build, or its target/classes: every second start of a
                                  client uses it, so that both builds work on the same tables
            --url=jdbc:mysql:...  the server to use, which is then not killed: tables faults_* are dropped and created. With
                                  several URLs, separated by commas, the clients use the nodes of a cluster in turn
            --user= --password=     Without a URL a server in a container
            --output=target/faults  the directory of report.md, report.xml, the events and the output of clients
            """;

    private static final Set<String> CLOCKS = Set.of("none", "clients", "all");

    private static final Map<String, String> DEFAULTS = Pattern.compile("--([a-z-]+)=([\\w./]+)\\s")
            .matcher(USAGE)
            .results()
            .collect(Collectors.toMap(option -> option.group(1), option -> option.group(2)));

    private static final Set<String> NAMES = Pattern.compile("--([a-z-]+)=")
            .matcher(USAGE)
            .results()
            .map((MatchResult option) -> option.group(1))
            .collect(Collectors.toSet());

    /** @throws IllegalArgumentException saying what is wrong */
    static Options parse(String... arguments) {
        Map<String, String> values = new HashMap<>(DEFAULTS);
        for (String argument : arguments) {
            String[] parts = argument.split("=", 2);
            String name = parts[0].replaceFirst("^--", "");
            if (parts.length < 2 || !parts[0].startsWith("--") || !NAMES.contains(name)) {
                throw new IllegalArgumentException("Unknown option: " + argument);
            }
            values.put(name, parts[1]);
        }
        Options options = new Options(values);
        options.duration();
        options.plan(true);
        options.tolerance();
        options.disk();
        options.earlierBuild();
        if (!CLOCKS.contains(options.value("clocks"))) {
            throw new IllegalArgumentException("--clocks takes none, clients or all: " + options.value("clocks"));
        }
        return options;
    }

    Duration duration() {
        return Duration.ofSeconds(number("seconds"));
    }

    List<String> clients() {
        return IntStream.rangeClosed(1, (int) number("clients"))
                .mapToObj(number -> "c" + number)
                .toList();
    }

    /**
     * Which faults to inject, and how often.
     *
     * @param canStepClocks whether the machine allows it
     */
    AttackPlan plan(boolean canStepClocks) {
        List<String> clients = clients();
        return new AttackPlan(
                clients,
                Set.copyOf(clients.subList(0, (int) Math.min(number("lasting"), clients.size()))),
                (int) number("threads"),
                sets(),
                Double.parseDouble(value("cuts")),
                Pace.parse(value("pace")),
                value("attacks").equals("all")
                        ? Set.of()
                        : Set.of(value("attacks").split(",")),
                instanceTimeout(),
                canStepClocks && stepsClientClocks(),
                number("seed"),
                earlierBuild(),
                output());
    }

    int sets() {
        return (int) number("sets");
    }

    Duration instanceTimeout() {
        return Duration.ofSeconds(number("instance-timeout"));
    }

    Duration tolerance() {
        return Duration.ofSeconds(number("tolerance"));
    }

    String database() {
        return value("database");
    }

    int disk() {
        return (int) number("disk");
    }

    boolean stepsClientClocks() {
        return !value("clocks").equals("none");
    }

    boolean stepsServerClock() {
        return value("clocks").equals("all");
    }

    /** What comes first on the class path of every second start of a client; empty for nothing. */
    private String earlierBuild() {
        String build = value("earlier");
        if (!build.isEmpty() && Arrays.stream(build.split(File.pathSeparator)).noneMatch(Options::isLibrary)) {
            throw new IllegalArgumentException(
                    "--earlier takes the jar of semaphore-core, or its target/classes; no such library is at " + build);
        }
        return build;
    }

    private static boolean isLibrary(String entry) {
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {Path.of(entry).toUri().toURL()}, null)) {
            return loader.findResource("io/dbsemaphore/engine/SemaphoreEngine.class") != null;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    List<String> urls() {
        return value("url").isEmpty() ? List.of() : List.of(value("url").split(","));
    }

    String user() {
        return value("user");
    }

    String password() {
        return value("password");
    }

    Path output() {
        return Path.of(value("output"));
    }

    /** The options that repeat a run. */
    String repeating() {
        return values.entrySet().stream()
                .filter(each -> !Set.of("output", "password", "user", "url").contains(each.getKey()))
                .filter(each -> each.getKey().equals("seed") || !each.getValue().equals(DEFAULTS.get(each.getKey())))
                .map(each -> "--" + each.getKey() + "=" + each.getValue())
                .sorted()
                .collect(Collectors.joining(" "));
    }

    private long number(String name) {
        return Long.parseLong(value(name));
    }

    private String value(String name) {
        return values.getOrDefault(name, "");
    }
}
