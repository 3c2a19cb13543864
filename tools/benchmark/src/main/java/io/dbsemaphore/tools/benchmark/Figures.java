package io.dbsemaphore.tools.benchmark;

import io.dbsemaphore.tools.benchmark.approach.Approach;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;

/**
 * The figures that the {@link Picture} and the README show, with the conditions of their run. As a file they are
 * comma-separated values below a comment for each condition.
 */
record Figures(Map<Condition, String> conditions, List<Figure> figures) {

    private static final String HEADING = "scenario,approach,pairs_per_second,acquire_p50_ms,failures";

    /**
     * What was measured of one approach in one scenario.
     *
     * @param pairsPerSecond the median of the rounds
     * @param acquireMillis the median of the rounds' medians; NaN where nothing was acquired
     * @param failures of all rounds
     */
    record Figure(Scenario scenario, Approach approach, double pairsPerSecond, double acquireMillis, long failures) {}

    /** Those of these results, without an earlier build and without delays. */
    static Figures of(Map<Condition, String> conditions, List<Result> results) {
        return new Figures(
                conditions,
                Picture.SCENARIOS.stream()
                        .flatMap(scenario -> results.stream()
                                .filter(result -> result.measured().scenario() == scenario)
                                .filter(result -> !result.measured().earlierBuild()
                                        && result.measured().delay().isZero()
                                        && Picture.APPROACHES.contains(
                                                result.measured().approach())))
                        .map(result -> new Figure(
                                result.measured().scenario(),
                                result.measured().approach(),
                                result.pairsPerSecond(),
                                result.acquireMillis(50),
                                result.rounds().stream()
                                        .mapToLong(Measurement::failures)
                                        .sum()))
                        .toList());
    }

    /** Reads a file that {@link #write} has written. */
    static Figures read(Path file) throws IOException {
        Map<Condition, String> conditions = new EnumMap<>(Condition.class);
        List<Figure> figures = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
            if (line.startsWith("# ")) {
                String[] parts = line.substring(2).split(": ", 2);
                conditions.put(Condition.valueOf(parts[0].toUpperCase(Locale.ROOT)), parts[1]);
            } else if (!line.equals(HEADING)) {
                figures.add(figure(line.split(",", -1)));
            }
        }
        return new Figures(conditions, figures);
    }

    void write(Path file) throws IOException {
        List<String> lines = new ArrayList<>();
        conditions.forEach(
                (condition, text) -> lines.add("# " + condition.name().toLowerCase(Locale.ROOT) + ": " + text));
        lines.add(HEADING);
        for (Figure figure : figures) {
            lines.add(String.format(
                    Locale.ROOT,
                    "%s,%s,%.1f,%.4f,%d",
                    figure.scenario().id(),
                    figure.approach().id(),
                    figure.pairsPerSecond(),
                    figure.acquireMillis(),
                    figure.failures()));
        }
        Files.write(file, lines);
    }

    /** @throws NoSuchElementException where there is none */
    String condition(Condition condition) {
        return Optional.ofNullable(conditions.get(condition))
                .orElseThrow(() -> new NoSuchElementException("No " + condition));
    }

    /** Those of one scenario. */
    List<Figure> in(Scenario scenario) {
        return figures.stream().filter(figure -> figure.scenario() == scenario).toList();
    }

    /** @throws NoSuchElementException where it was not measured */
    Figure get(Scenario scenario, Approach approach) {
        return in(scenario).stream()
                .filter(figure -> figure.approach() == approach)
                .findFirst()
                .orElseThrow(() -> new NoSuchElementException(approach.label() + ", " + scenario.title()));
    }

    /** The scenarios and approaches that the picture is to show, and that were not measured. */
    List<String> missing() {
        return Picture.SCENARIOS.stream()
                .flatMap(scenario -> scenario.cases(Picture.APPROACHES, false, 1, Duration.ZERO).stream())
                .filter(wanted ->
                        in(wanted.scenario()).stream().noneMatch(figure -> figure.approach() == wanted.approach()))
                .map(wanted ->
                        wanted.scenario().id() + " of " + wanted.approach().id())
                .toList();
    }

    private static Figure figure(String[] cells) {
        return new Figure(
                Scenario.measured().stream()
                        .filter(scenario -> scenario.id().equals(cells[0]))
                        .findFirst()
                        .orElseThrow(() -> new NoSuchElementException("No scenario " + cells[0])),
                Arrays.stream(Approach.values())
                        .filter(approach -> approach.id().equals(cells[1]))
                        .findFirst()
                        .orElseThrow(() -> new NoSuchElementException("No approach " + cells[1])),
                Double.parseDouble(cells[2]),
                Double.parseDouble(cells[3]),
                Long.parseLong(cells[4]));
    }
}
