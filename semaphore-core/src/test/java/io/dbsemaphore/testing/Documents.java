package io.dbsemaphore.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Reads the Markdown files of the repository. */
public final class Documents {

    /** The root of the repository. */
    public static final Path ROOT =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath().getParent();

    private Documents() {}

    /** The paths of README.md and of the documents in docs. */
    public static List<String> forUsers() throws IOException {
        try (Stream<Path> files = Files.list(ROOT.resolve("docs"))) {
            return Stream.concat(
                            Stream.of("README.md"),
                            files.map(file -> "docs/" + file.getFileName()).filter(path -> path.endsWith(".md")))
                    .sorted()
                    .toList();
        }
    }

    /** The text of a file. */
    public static String read(String path) {
        try {
            return Files.readString(ROOT.resolve(path));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** What stands below a heading, up to the next one of the same level. */
    public static String section(String document, String heading) {
        String text = read(document);
        String begin = "\n## " + heading + "\n";
        int from = text.indexOf(begin);
        if (from < 0) {
            throw new AssertionError(document + " has no heading '" + heading + "'");
        }
        int to = text.indexOf("\n## ", from + 1);
        return text.substring(from + begin.length(), to < 0 ? text.length() : to);
    }

    /** The rows of the tables in a text, each with its cells, without the headings. */
    public static List<List<String>> rows(String text) {
        List<List<String>> rows = new ArrayList<>();
        for (String line : text.split("\n")) {
            if (line.startsWith("|---")) {
                rows.remove(rows.size() - 1);
            } else if (line.startsWith("|")) {
                rows.add(cells(line));
            }
        }
        return rows;
    }

    /** The fenced blocks of a language. */
    public static List<String> blocks(String document, String language) {
        Matcher block = Pattern.compile("^```" + language + "\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL)
                .matcher(read(document));
        return block.results().map(found -> found.group(1)).toList();
    }

    /** Without the back quotes around it. */
    public static String code(String cell) {
        return cell.replace("`", "");
    }

    private static List<String> cells(String row) {
        return Arrays.stream(row.split("\\|", -1))
                .skip(1)
                .map(String::strip)
                .toList()
                .subList(0, row.split("\\|", -1).length - 2);
    }
}
