package io.dbsemaphore.tools.faults.report;

import io.dbsemaphore.tools.faults.oracle.Findings;
import java.util.Arrays;

/** A report as JUnit's XML: one test case for each promise. */
final class JUnitXml {

    private final Report report;

    JUnitXml(Report report) {
        this.report = report;
    }

    String text() {
        StringBuilder xml = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        Findings.Kind[] kinds = Findings.Kind.values();
        long failures = Arrays.stream(kinds)
                .filter(kind -> report.findings().count(kind) > 0)
                .count();
        xml.append("<testsuite name=\"%s %s\" tests=\"%d\" failures=\"%d\" errors=\"0\" skipped=\"0\" time=\"%d\">%n"
                .formatted(
                        escape(report.product()),
                        escape(report.options()),
                        kinds.length + 1,
                        failures + (report.complete() ? 0 : 1),
                        report.duration().toSeconds()));
        for (Findings.Kind kind : kinds) {
            testCase(xml, kind.label(), String.join("\n", report.findings().descriptions(kind)));
        }
        testCase(xml, "All attacks carried out", report.complete() ? "" : "Standard error says what failed");
        return xml.append("</testsuite>\n").toString();
    }

    private static void testCase(StringBuilder xml, String name, String failure) {
        xml.append("  <testcase classname=\"io.dbsemaphore.tools.faults\" name=\"")
                .append(escape(name))
                .append(failure.isEmpty() ? "\"/>\n" : "\"><failure>" + escape(failure) + "</failure></testcase>\n");
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
