package io.dbsemaphore.tools.benchmark;

import io.dbsemaphore.tools.benchmark.Figures.Figure;
import io.dbsemaphore.tools.benchmark.approach.Approach;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * Draws {@link Figures} as an SVG: a chart of horizontal bars for each scenario, each chart with a scale of its own. The
 * picture paints its own background, since a page can be dark where the browser prefers light colours, and the other way
 * round.
 */
final class Picture {

    /** What it shows. */
    static final List<Scenario> SCENARIOS = List.of(
            Scenario.ONE_THREAD,
            Scenario.THREADS_32,
            Scenario.THREADS_128,
            Scenario.SEMAPHORES_64,
            Scenario.TWO_JVMS,
            Scenario.REUSE_32);

    /** Whom it compares. */
    static final List<Approach> APPROACHES = List.of(
            Approach.DB_SEMAPHORE,
            Approach.BARE_UPDATE,
            Approach.TEXTBOOK,
            Approach.LOCK_REGISTRY,
            Approach.SHEDLOCK,
            Approach.REDISSON);

    private static final int WIDTH = 800;
    private static final int MARGIN = 20;
    private static final int TOP = 96;
    private static final int CHART_WIDTH = 388;
    private static final int CHART_HEIGHT = 166;
    private static final int ROW_HEIGHT = 20;
    private static final int BAR_HEIGHT = 13;
    private static final int BARS_LEFT = 128;
    private static final int BAR_WIDTH = 150;

    /** Plain classes: not every program that shows SVG knows variables. */
    private static final String STYLE = """
            text { font: 13px system-ui, -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; fill: #1f2328 }
            .note { font-size: 12px; fill: #59636e }
            .heading { font-weight: 600 }
            .title { font-size: 16px; font-weight: 600 }
            .name { text-anchor: end }
            .page { fill: #ffffff; stroke: #d1d9e0 }
            .other { fill: #818b98 }
            .own { fill: #0969da }
            @media (prefers-color-scheme: dark) {
              text { fill: #f0f6fc }
              .note { fill: #9198a1 }
              .page { fill: #0d1117; stroke: #3d444d }
              .other { fill: #656c76 }
              .own { fill: #4493f8 }
            }
            """;

    private final Figures figures;

    Picture(Figures figures) {
        this.figures = figures;
    }

    /** Draws it from the figures in the file beside it. */
    static void draw(Path svg) throws IOException {
        Files.writeString(svg, new Picture(Figures.read(figuresOf(svg))).svg());
    }

    /** The file with the figures of a picture. */
    static Path figuresOf(Path svg) {
        return Path.of(svg.toString().replaceFirst("\\.svg$", ".csv"));
    }

    String svg() {
        List<Chart> charts = charts();
        int height = TOP + (charts.size() / 2 + 1) * CHART_HEIGHT; // the notes are in the cell after the last chart
        StringBuilder svg = new StringBuilder();
        svg.append("""
                <svg xmlns="http://www.w3.org/2000/svg" width="%1$d" height="%2$d" viewBox="0 0 %1$d %2$d" role="img" \
                aria-labelledby="title desc">
                <title id="title">Acquires per second: DB Semaphore beside others</title>
                <desc id="desc">%3$s</desc>
                <style>
                %4$s</style>
                <rect class="page" x="0.5" y="0.5" width="%5$d" height="%6$d" rx="6"/>
                """.formatted(WIDTH, height, escape(description(charts)), STYLE, WIDTH - 1, height - 1));
        addText(svg, "title", MARGIN, 32, "Acquires per second, each with its release");
        addText(svg, "note", MARGIN, 52, conditions());
        addText(
                svg,
                "note",
                MARGIN,
                69,
                "Longer bars are better; of times, shorter ones. Each chart has a scale of its own.");
        for (int cell = 0; cell < charts.size(); cell++) {
            add(svg, charts.get(cell), left(cell), top(cell));
        }
        addNotes(svg, left(charts.size()), top(charts.size()));
        return svg.append("</svg>\n").toString();
    }

    private List<Chart> charts() {
        List<Chart> charts = new ArrayList<>();
        for (Scenario scenario : SCENARIOS) {
            List<Figure> measured = figures.in(scenario);
            if (!measured.isEmpty()) {
                charts.add(chart(scenario.title(), measured, Figure::pairsPerSecond, Picture::rate));
            }
            if (!measured.isEmpty() && scenario == Scenario.ONE_THREAD) {
                charts.add(chart(
                        "1 thread, median time of an acquire",
                        measured,
                        Figure::acquireMillis,
                        figure -> millis(figure.acquireMillis())));
            }
        }
        return charts;
    }

    private static Chart chart(
            String title, List<Figure> measured, ToDoubleFunction<Figure> value, Function<Figure, String> label) {
        return new Chart(
                title,
                measured.stream()
                        .filter(figure -> !Double.isNaN(value.applyAsDouble(figure)))
                        .map(figure -> new Bar(figure.approach(), value.applyAsDouble(figure), label.apply(figure)))
                        .toList());
    }

    private static void add(StringBuilder svg, Chart chart, int left, int top) {
        double longest = chart.bars().stream().mapToDouble(Bar::value).max().orElse(1);
        addText(svg, "heading", left, top, chart.title());
        for (int row = 0; row < chart.bars().size(); row++) {
            Bar bar = chart.bars().get(row);
            int barTop = top + 12 + row * ROW_HEIGHT;
            int baseline = barTop + BAR_HEIGHT - 2;
            double width = Math.max(1, bar.value() / longest * BAR_WIDTH);
            addText(svg, bar.isOwn() ? "name heading" : "name", left + BARS_LEFT - 8, baseline, bar.name());
            svg.append(format(
                    "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n",
                    bar.isOwn() ? "own" : "other", left + BARS_LEFT, barTop, width, BAR_HEIGHT));
            svg.append(format(
                    "<text x=\"%.1f\" y=\"%d\">%s</text>\n",
                    left + BARS_LEFT + width + 6, baseline, escape(bar.label())));
        }
    }

    private void addNotes(StringBuilder svg, int left, int top) {
        List<String> notes = new ArrayList<>();
        Collections.addAll(
                notes,
                "DB Semaphore has its defaults, and reuse where it says so.",
                "Bare UPDATE checks no capacity and recovers nothing.",
                "Textbook: SELECT … FOR UPDATE, sum, insert, commit.",
                "JdbcLockRegistry and ShedLock are mutexes: one holder.");
        if (figures.conditions().containsKey(Condition.REDIS)) {
            notes.add("Redisson is on " + figures.condition(Condition.REDIS) + ".");
        }
        notes.add("The figures are " + figures.condition(Condition.ROUNDS) + ".");
        notes.add("The authors of DB Semaphore wrote this benchmark.");
        addText(svg, "heading", left, top, "What to know");
        for (int row = 0; row < notes.size(); row++) {
            addText(svg, "note", left, top + 23 + row * ROW_HEIGHT, notes.get(row));
        }
    }

    private String conditions() {
        return String.join(
                ", ", date(figures), figures.condition(Condition.MACHINE), figures.condition(Condition.DATABASE));
    }

    /** The day of the run, as a reader writes it. */
    static String date(Figures figures) {
        return LocalDate.parse(figures.condition(Condition.DATE))
                .format(DateTimeFormatter.ofPattern("d MMMM uuuu", Locale.ENGLISH));
    }

    private static String description(List<Chart> charts) {
        return charts.stream()
                .map(chart -> chart.bars().stream()
                        .map(bar -> bar.name() + " " + bar.label())
                        .collect(Collectors.joining(", ", chart.title() + ": ", ".")))
                .collect(Collectors.joining(" "));
    }

    private static void addText(StringBuilder svg, String style, int x, int y, String text) {
        svg.append("<text class=\"%s\" x=\"%d\" y=\"%d\">%s</text>\n".formatted(style, x, y, escape(text)));
    }

    private static int left(int cell) {
        return MARGIN + cell % 2 * CHART_WIDTH;
    }

    private static int top(int cell) {
        return TOP + 8 + cell / 2 * CHART_HEIGHT;
    }

    private static String rate(Figure figure) {
        String rate = rate(figure.pairsPerSecond());
        return figure.failures() == 0 ? rate : format("%s (%,d failed)", rate, figure.failures());
    }

    /** So many times per second, as the picture and the README say it. */
    static String rate(double perSecond) {
        return format(perSecond < 10 ? "%.1f" : "%,.0f", perSecond);
    }

    /** A time, as the picture and the README say it. */
    static String millis(double millis) {
        return format(millis < 10 ? "%.2f ms" : "%,.0f ms", millis);
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    private static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }

    /** The bars of one scenario. */
    private record Chart(String title, List<Bar> bars) {}

    /** One approach. */
    private record Bar(Approach approach, double value, String label) {

        String name() {
            return approach.label();
        }

        boolean isOwn() {
            return approach == Approach.DB_SEMAPHORE;
        }
    }
}
