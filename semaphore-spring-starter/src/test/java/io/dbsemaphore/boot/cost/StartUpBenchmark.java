package io.dbsemaphore.boot.cost;

import com.example.clinic.ClinicApplication;
import com.example.visits.VisitsApplication;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What the starter adds to the start of an application: time, CPU and live heap. Runs {@link ClinicApplication}, which has JPA, or
 * {@link VisitsApplication}, which has not, in JVMs of its own, with and without the library on the class path, in turn, and prints the
 * medians. To be run by hand, on an idle machine:
 *
 * <pre>java -cp TEST_CLASS_PATH io.dbsemaphore.boot.cost.StartUpBenchmark jpa|jdbc [RUNS [JVM_OPTION…]]</pre>
 */
public final class StartUpBenchmark {

    private static final String NEVER =
            "liquibase|flyway|spring-security|testcontainers|mockito|byte-buddy-agent|hsqldb|webflux";
    private static final Pattern THE_LIBRARY =
            Pattern.compile("(semaphore-core|semaphore-spring-starter)/target/(fast/main|classes)");
    private static final String[] COLUMNS = {
        "time to start (ms)", "CPU until then (ms)", "first acquire (ms)", "CPU 3 s later (ms)", "live heap (kB)"
    };
    private static final Pattern FIGURES =
            Pattern.compile("started in (\\d+) ms, (\\d+) ms CPU\\s+first acquire (\\d+) ms"
                    + "\\s+(\\d+) ms CPU in all\\s+live heap (\\d+) kB");

    /** An application, and what is not on its class path with the library and without. */
    private enum Host {
        JPA(ClinicApplication.class, "(?!)", "(?!)"),
        JDBC(
                VisitsApplication.class,
                "spring-boot-(hibernate|jpa|data-)|spring-boot-starter-data",
                "hibernate|antlr4|jboss-logging|byte-buddy|jakarta\\.(persistence|xml)|jaxb|spring-orm|spring-data|spring-aspects");

        private final Class<?> application;
        private final Pattern never;
        private final Pattern ofTheLibrary;

        Host(Class<?> application, String never, String ofTheLibrary) {
            this.application = application;
            this.never = Pattern.compile(NEVER + "|" + never);
            this.ofTheLibrary = Pattern.compile(ofTheLibrary);
        }

        String classPath(boolean withTheLibrary) {
            return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                    .filter(entry -> !never.matcher(entry).find())
                    .filter(entry -> withTheLibrary
                            || !(THE_LIBRARY.matcher(entry).find()
                                    || ofTheLibrary.matcher(entry).find()))
                    .collect(Collectors.joining(File.pathSeparator));
        }
    }

    private StartUpBenchmark() {}

    public static void main(String[] args) throws Exception {
        Host host = Host.valueOf(args[0].toUpperCase(Locale.ROOT));
        int runs = args.length < 2 ? 5 : Integer.parseInt(args[1]);
        List<String> options = Arrays.asList(args).subList(Math.min(2, args.length), args.length);
        List<List<Integer>> without = new ArrayList<>();
        List<List<Integer>> with = new ArrayList<>();
        for (int i = 0; i < runs; i++) {
            without.add(run(host, false, options));
            with.add(run(host, true, options));
        }
        System.out.println("| | " + String.join(" | ", COLUMNS) + " |");
        System.out.println("|---".repeat(COLUMNS.length + 1) + "|");
        print("without", medians(without));
        print("with the starter", medians(with));
    }

    private static List<Integer> run(Host host, boolean withTheLibrary, List<String> options) throws Exception {
        List<String> command = new ArrayList<>(
                List.of(System.getProperty("java.home") + "/bin/java", "-XX:ActiveProcessorCount=2", "-Xmx512m"));
        command.addAll(options);
        command.addAll(List.of("-cp", host.classPath(withTheLibrary), host.application.getName()));
        command.addAll(
                List.of("--server.port=0", "--spring.main.banner-mode=off", "--spring.jpa.hibernate.ddl-auto=create"));
        // in both cases: an application creates its tables once, not at each start
        command.add("--spring.sql.init.schema-locations="
                + StartUpBenchmark.class.getResource("/db/dbsemaphore/sql/h2.sql"));
        if (withTheLibrary) {
            command.add("--semaphore.semaphores.backup.capacity=2");
        }
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        List<Integer> figures = FIGURES.matcher(output)
                .results()
                .flatMap(result -> IntStream.rangeClosed(1, COLUMNS.length)
                        .mapToObj(column -> Integer.valueOf(result.group(column))))
                .toList();
        if (figures.isEmpty()) {
            throw new IllegalStateException(output);
        }
        System.out.println((withTheLibrary ? "with    " : "without ") + figures);
        return figures;
    }

    private static List<Integer> medians(List<List<Integer>> runs) {
        return IntStream.range(0, COLUMNS.length)
                .mapToObj(column -> runs.stream()
                        .map(run -> run.get(column))
                        .sorted()
                        .toList()
                        .get(runs.size() / 2))
                .toList();
    }

    private static void print(String what, List<Integer> medians) {
        System.out.println(
                "| " + what + " | " + medians.stream().map(String::valueOf).collect(Collectors.joining(" | ")) + " |");
    }
}
