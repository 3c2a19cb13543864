package io.dbsemaphore.samples.benchmark.report;

import java.util.ArrayList;
import java.util.List;

/** Rows of text, aligned: columns whose heading begins with a space to the right, the others to the left. */
public final class TextTable {

    private final List<String> headings;
    private final List<List<String>> rows = new ArrayList<>();

    /** A table with these columns. */
    public TextTable(String... headings) {
        this.headings = List.of(headings);
    }

    /** Adds a row. */
    public void add(String... cells) {
        rows.add(List.of(cells));
    }

    /** Adds an empty line. */
    public void gap() {
        rows.add(headings.stream().map(heading -> "").toList());
    }

    /** The lines to print. */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add(line(headings.stream().map(String::strip).toList()));
        lines.add("-".repeat(lines.get(0).length()));
        rows.forEach(row -> lines.add(line(row)));
        return lines;
    }

    private String line(List<String> cells) {
        StringBuilder line = new StringBuilder();
        for (int column = 0; column < cells.size(); column++) {
            String padding = " ".repeat(width(column) - cells.get(column).length());
            boolean right = headings.get(column).startsWith(" ");
            line.append(right ? padding + cells.get(column) : cells.get(column) + padding)
                    .append("  ");
        }
        return line.toString().stripTrailing();
    }

    private int width(int column) {
        int width = headings.get(column).strip().length();
        for (List<String> row : rows) {
            width = Math.max(width, row.get(column).length());
        }
        return width;
    }
}
