package io.dbsemaphore.tools.benchmark;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A Markdown table, padded so that it reads as plain text, too. Columns whose heading begins with a space align right. */
final class MarkdownTable {

    private final List<String> headings;
    private final List<List<String>> rows = new ArrayList<>();

    MarkdownTable(String... headings) {
        this.headings = List.of(headings);
    }

    void add(String... cells) {
        rows.add(List.of(cells));
    }

    List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add(line(headings.stream().map(String::strip).toList()));
        lines.add(join(column -> "-".repeat(width(column) - 1) + (isRight(column) ? ":" : "-")));
        rows.forEach(row -> lines.add(line(row)));
        return lines;
    }

    private String line(List<String> cells) {
        return join(column -> ("%" + (isRight(column) ? "" : "-") + width(column) + "s").formatted(cells.get(column)));
    }

    private String join(IntFunction<String> cell) {
        return IntStream.range(0, headings.size()).mapToObj(cell).collect(Collectors.joining(" | ", "| ", " |"));
    }

    private boolean isRight(int column) {
        return headings.get(column).startsWith(" ");
    }

    private int width(int column) {
        int width = headings.get(column).strip().length();
        for (List<String> row : rows) {
            width = Math.max(width, row.get(column).length());
        }
        return width;
    }
}
