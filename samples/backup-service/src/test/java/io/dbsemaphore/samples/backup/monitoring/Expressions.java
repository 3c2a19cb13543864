package io.dbsemaphore.samples.backup.monitoring;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.json.JsonMapper;

/** What the dashboard and the alert rules ask Prometheus for. */
final class Expressions {

    private static final Path DOCS = Path.of(System.getProperty("basedir", ""))
            .toAbsolutePath()
            .resolve("../../docs")
            .normalize();
    private static final Pattern SELECTOR = Pattern.compile("\\bsemaphore_[a-z_]+(\\{[^}]*})?");
    private static final Pattern GROUPED_BY = Pattern.compile("by \\(([^)]+)\\)");
    private static final Pattern VARIABLE_OF_LABELS = Pattern.compile("label_values\\((\\w+), (\\w+)\\)");

    private Expressions() {}

    static Path document(String name) {
        return DOCS.resolve(name);
    }

    /** The queries of all panels and variables, with Grafana's variables replaced. */
    static List<String> ofDashboard() throws IOException {
        String dashboard = Files.readString(document("grafana-dashboard.json"));
        return Stream.concat(
                        JsonMapper.shared().readTree(dashboard).findValuesAsString("expr").stream(),
                        VARIABLE_OF_LABELS
                                .matcher(dashboard)
                                .results()
                                .map(labels -> "count by (%s) (%s)".formatted(labels.group(2), labels.group(1))))
                .map(Expressions::withoutVariables)
                .distinct()
                .toList();
    }

    /** The selectors of an expression that is empty as a whole while all is well. */
    static Stream<String> selectors(String expression) {
        return SELECTOR.matcher(expression).results().map(MatchResult::group);
    }

    /** The labels by which it groups. */
    static Set<String> labels(String expression) {
        return GROUPED_BY
                .matcher(expression)
                .results()
                .flatMap(by -> Stream.of(by.group(1).split(", ")))
                .collect(Collectors.toSet());
    }

    /** As Grafana does: four scrapes are the shortest period of a rate. */
    private static String withoutVariables(String expression) {
        return expression
                .replace("$__rate_interval", "4s")
                .replace("$__range", "1m")
                .replace("$semaphore", ".*");
    }
}
