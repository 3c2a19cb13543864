package io.dbsemaphore.boot.cost;

import com.example.clinic.ClinicApplication;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What the starter adds to the start of an application: time, CPU and live heap. Runs {@link ClinicApplication} in JVMs of
 * its own, with and without the library on the class path, in turn, and prints the medians. To be run by hand, on an idle
 * machine:
 *
 * <pre>java -cp TEST_CLASS_PATH io.dbsemaphore.boot.cost.StartUpBenchmark [RUNS [JVM_OPTION…]]</pre>
 */
public final class StartUpBenchmark {

    private static final Pattern NOT_IN_THE_HOST =
            Pattern.compile("liquibase|flyway|spring-security|testcontainers|mockito|byte-buddy-agent|hsqldb");
    private static final Pattern THE_LIBRARY =
            Pattern.compile("(semaphore-core|semaphore-spring-starter)/target/(fast/main|classes)");

    private StartUpBenchmark() {}

    public static void main(String[] args) throws Exception {
        int runs = args.length == 0 ? 5 : Integer.parseInt(args[0]);
        List<String> options = Arrays.asList(args).subList(Math.min(1, args.length), args.length);
        List<List<Integer>> without = new ArrayList<>();
        List<List<Integer>> with = new ArrayList<>();
        for (int i = 0; i < runs; i++) {
            without.add(run(false, options));
            with.add(run(true, options));
        }
        System.out.println("| | time to start (ms) | CPU until then (ms) | live heap (kB) |");
        System.out.println("|---|---|---|---|");
        print("without", medians(without));
        print("with the starter", medians(with));
    }

    private static List<Integer> run(boolean withTheLibrary, List<String> options) throws Exception {
        List<String> command = new ArrayList<>(
                List.of(System.getProperty("java.home") + "/bin/java", "-XX:ActiveProcessorCount=2", "-Xmx512m"));
        command.addAll(options);
        command.addAll(List.of("-cp", classPath(withTheLibrary), ClinicApplication.class.getName()));
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
        List<Integer> figures = Pattern.compile("started in (\\d+) ms, (\\d+) ms CPU\\s+live heap (\\d+) kB")
                .matcher(output)
                .results()
                .flatMap(result -> Stream.of(result.group(1), result.group(2), result.group(3)))
                .map(Integer::valueOf)
                .toList();
        if (figures.isEmpty()) {
            throw new IllegalStateException(output);
        }
        System.out.println((withTheLibrary ? "with    " : "without ") + figures);
        return figures;
    }

    private static String classPath(boolean withTheLibrary) {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !NOT_IN_THE_HOST.matcher(entry).find())
                .filter(entry -> withTheLibrary || !THE_LIBRARY.matcher(entry).find())
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static List<Integer> medians(List<List<Integer>> runs) {
        List<Integer> medians = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            int column = i;
            medians.add(
                    runs.stream().map(run -> run.get(column)).sorted().toList().get(runs.size() / 2));
        }
        return medians;
    }

    private static void print(String what, List<Integer> medians) {
        System.out.printf("| %s | %d | %d | %d |%n", what, medians.get(0), medians.get(1), medians.get(2));
    }
}
