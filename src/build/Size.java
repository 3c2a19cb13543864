// Prints the classes and lines of code of core and starter, package by package. Comments, blank lines, imports and package
// clauses are not code. With --at-most=N it fails if there are more than N lines in all.

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

class Size {

    public static void main(String[] arguments) throws IOException {
        long limit = Long.MAX_VALUE;
        if (arguments.length > 0) {
            if (!arguments[0].matches("--at-most=\\d+")) {
                System.err.println("Usage: java src/build/Size.java [--at-most=N]");
                System.exit(2);
            }
            limit = Long.parseLong(arguments[0].substring("--at-most=".length()));
        }
        Map<String, long[]> packages = new TreeMap<>();
        for (String module : List.of("semaphore-core", "semaphore-spring-starter")) {
            Path sources = Path.of(module, "src/main/java");
            try (Stream<Path> files = Files.walk(sources)) {
                for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
                    String name = sources.relativize(file.getParent()).toString().replace('/', '.');
                    long[] sums = packages.computeIfAbsent(name, unused -> new long[2]);
                    sums[0] += file.endsWith("package-info.java") ? 0 : 1;
                    sums[1] += linesOfCode(Files.readString(file));
                }
            }
        }
        System.out.printf("%-40s%9s%9s%n", "package", "classes", "code");
        long[] total = new long[2];
        packages.forEach((name, sums) -> {
            total[0] += sums[0];
            total[1] += sums[1];
            System.out.printf("%-40s%,9d%,9d%n", name, sums[0], sums[1]);
        });
        System.out.printf("%-40s%,9d%,9d%n", "sum", total[0], total[1]);
        if (total[1] > limit) {
            System.err.printf("%,d lines of code are more than %,d%n", total[1], limit);
            System.exit(1);
        }
    }

    private static long linesOfCode(String source) {
        return withoutComments(source)
                .lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("import ") && !line.startsWith("package "))
                .count();
    }

    /** Strings and text blocks may contain what looks like a comment; they stay, and an empty line within them counts. */
    private static String withoutComments(String source) {
        StringBuilder code = new StringBuilder();
        int at = 0;
        while (at < source.length()) {
            if (source.startsWith("//", at)) {
                at = end(source, "\n", at + 2);
            } else if (source.startsWith("/*", at)) {
                int end = end(source, "*/", at + 2) + 2;
                source.substring(at, end).chars().filter(each -> each == '\n').forEach(each -> code.append('\n'));
                at = end;
            } else if (source.startsWith("\"\"\"", at)) {
                int end = endOfText(source, "\"\"\"", at + 3);
                code.append(source.substring(at, end).replaceAll("(?m)^[ \t]*$", "text"));
                at = end;
            } else if (source.charAt(at) == '"' || source.charAt(at) == '\'') {
                int end = endOfText(source, source.substring(at, at + 1), at + 1);
                code.append(source, at, end);
                at = end;
            } else {
                code.append(source.charAt(at++));
            }
        }
        return code.toString();
    }

    private static int end(String source, String mark, int from) {
        int found = source.indexOf(mark, from);
        return found < 0 ? source.length() : found;
    }

    private static int endOfText(String source, String quotes, int from) {
        int at = from;
        while (at < source.length() && !source.startsWith(quotes, at)) {
            at += source.charAt(at) == '\\' ? 2 : 1;
        }
        return Math.min(source.length(), at + quotes.length());
    }
}
