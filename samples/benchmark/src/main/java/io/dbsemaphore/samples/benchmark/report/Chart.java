package io.dbsemaphore.samples.benchmark.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Grouped columns on a logarithmic scale, as SVG. */
final class Chart {

    private static final List<String> COLOURS =
            List.of("#1f5fbf", "#e08214", "#7f7f7f", "#4d9221", "#c51b7d", "#542788");
    private static final int COLUMN = 34;
    private static final int GAP = 40;
    private static final int LEFT = 70;
    private static final int TOP = 90;
    private static final int HEIGHT = 360;
    private static final int BOTTOM = 50;

    private final String title;
    private final String unit;
    private final List<String> series;
    private final List<Group> groups;
    private final int lowest;
    private final int highest;

    /** @param series what columns there may be in a group */
    Chart(String title, String unit, List<String> series, List<Group> groups) {
        this.title = title;
        this.unit = unit;
        this.series = series;
        this.groups = groups;
        double[] values = groups.stream()
                .flatMap(group -> group.columns().stream())
                .mapToDouble(Column::value)
                .filter(value -> value > 0)
                .toArray();
        double least = Double.POSITIVE_INFINITY;
        double most = 0;
        for (double value : values) {
            least = Math.min(least, value);
            most = Math.max(most, value);
        }
        lowest = values.length == 0 ? 0 : (int) Math.floor(Math.log10(least));
        highest = values.length == 0 ? 1 : Math.max(lowest + 1, (int) Math.ceil(Math.log10(most)));
    }

    String svg() {
        List<String> parts = new ArrayList<>();
        int legend = LEFT + series.size() * 150;
        int width = Math.max(
                legend, LEFT + GAP + groups.stream().mapToInt(Chart::width).sum());
        parts.add(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %1$d %2$d\" width=\"%1$d\" height=\"%2$d\" font-family=\"sans-serif\" font-size=\"12\">"
                        .formatted(width, TOP + HEIGHT + BOTTOM));
        parts.add("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>");
        parts.add(text(LEFT, 26, "start", 16, "%s (%s, logarithmic scale)".formatted(title, unit)));
        for (int i = 0; i < series.size(); i++) {
            parts.add(rectangle(LEFT + i * 150, 42, 12, 12, COLOURS.get(i % COLOURS.size())));
            parts.add(text(LEFT + i * 150 + 18, 53, "start", 12, series.get(i)));
        }
        for (int decade = lowest; decade <= highest; decade++) {
            double y = y(Math.pow(10, decade));
            parts.add("<line x1=\"%1$d\" x2=\"%2$d\" y1=\"%3$s\" y2=\"%3$s\" stroke=\"#d0d0d0\"/>"
                    .formatted(LEFT, width, coordinate(y)));
            parts.add(text(LEFT - 8, y + 4, "end", 12, value(Math.pow(10, decade))));
        }
        int x = LEFT + GAP / 2;
        for (Group group : groups) {
            draw(group, x, parts);
            x += width(group);
        }
        parts.add("</svg>");
        return parts.stream().collect(Collectors.joining("\n", "", "\n"));
    }

    private void draw(Group group, int left, List<String> parts) {
        int x = left;
        for (Column column : group.columns()) {
            if (column.value() > 0) {
                double y = y(column.value());
                String colour = COLOURS.get(Math.max(0, series.indexOf(column.series())) % COLOURS.size());
                parts.add(rectangle(x, y, COLUMN - 4, TOP + HEIGHT - y, colour));
                parts.add(text(x + COLUMN / 2 - 2, y - 4, "middle", 10, value(column.value())));
            }
            x += COLUMN;
        }
        double middle = left + (group.columns().size() * COLUMN) / 2.0;
        List<String> words = List.of(group.label().split(", ", 2));
        for (int line = 0; line < words.size(); line++) {
            parts.add(text(middle, TOP + HEIGHT + 18 + line * 15, "middle", 12, words.get(line)));
        }
    }

    private double y(double value) {
        double share = (Math.log10(value) - lowest) / (highest - lowest);
        return TOP + HEIGHT * (1 - share);
    }

    /** A label needs room even over few columns. */
    private static int width(Group group) {
        return Math.max(group.columns().size() * COLUMN, 90) + GAP;
    }

    private static String rectangle(double x, double y, double width, double height, String colour) {
        return "<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" fill=\"%s\"/>"
                .formatted(coordinate(x), coordinate(y), coordinate(width), coordinate(height), colour);
    }

    private static String text(double x, double y, String anchor, int size, String text) {
        return "<text x=\"%s\" y=\"%s\" text-anchor=\"%s\" font-size=\"%d\">%s</text>"
                .formatted(
                        coordinate(x),
                        coordinate(y),
                        anchor,
                        size,
                        text.replace("&", "&amp;").replace("<", "&lt;"));
    }

    private static String coordinate(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }

    private static String value(double value) {
        if (value >= 100) {
            return String.format(Locale.ROOT, "%,.0f", value);
        }
        return String.format(Locale.ROOT, "%.3g", value)
                .replaceFirst("(\\.\\d*?)0+$", "$1")
                .replaceFirst("\\.$", "");
    }

    /** Columns that stand together. */
    record Group(String label, List<Column> columns) {}

    /** One of them. */
    record Column(String series, double value) {}
}
