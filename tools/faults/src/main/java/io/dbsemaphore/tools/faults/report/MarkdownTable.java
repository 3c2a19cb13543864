package io.dbsemaphore.tools.faults.report;

import java.util.ArrayList;
import java.util.List;

/** A Markdown table of two columns, padded so that it reads as plain text, too. */
final class MarkdownTable {

    private final List<String[]> rows = new ArrayList<>();

    MarkdownTable(String first, String second) {
        add(first, second);
    }

    void add(String first, Object second) {
        rows.add(new String[] {first, String.valueOf(second)});
    }

    List<String> lines() {
        int first = width(0);
        int second = width(1);
        List<String> lines = new ArrayList<>();
        for (String[] row : rows) {
            lines.add(("| %-" + first + "s | %-" + second + "s |").formatted(row[0], row[1]));
        }
        lines.add(1, "|-" + "-".repeat(first) + "-|-" + "-".repeat(second) + "-|");
        return lines;
    }

    private int width(int column) {
        return rows.stream().mapToInt(row -> row[column].length()).max().orElse(1);
    }
}
