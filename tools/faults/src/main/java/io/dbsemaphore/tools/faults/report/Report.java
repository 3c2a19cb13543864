package io.dbsemaphore.tools.faults.report;

import io.dbsemaphore.tools.faults.oracle.Event;
import io.dbsemaphore.tools.faults.oracle.Figures;
import io.dbsemaphore.tools.faults.oracle.Findings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What a run has shown.
 *
 * @param product the database and its version
 * @param options that repeat the run
 * @param duration of the attacks
 * @param free how long it took after the run until all permits were available
 * @param commits of the server's log that were replayed; 0 without a log
 * @param complete whether all attacks could be carried out
 */
public record Report(
        String product,
        String options,
        Duration duration,
        Figures figures,
        Findings findings,
        Duration free,
        long commits,
        boolean complete) {

    /** Whether the library kept its promises, all attacks could be carried out, and anything was granted. */
    public boolean isPassed() {
        return findings.isEmpty() && complete && figures.count(Event.Kind.GRANTED) > 0;
    }

    /** Writes {@code report.md} and {@code report.xml}. */
    public void write(Path directory) throws IOException {
        Files.write(directory.resolve("report.md"), markdown());
        Files.writeString(directory.resolve("report.xml"), new JUnitXml(this).text());
    }

    /** The report as a table. */
    public List<String> markdown() {
        MarkdownTable table = new MarkdownTable("", product);
        table.add(
                "Date, processors",
                LocalDate.now(ZoneOffset.UTC) + ", " + Runtime.getRuntime().availableProcessors());
        table.add("Options", "`" + options + "`");
        table.add("Under attack for", seconds(duration));
        table.add(
                "Grants",
                number(figures.count(Event.Kind.GRANTED)) + ", of these " + number(figures.reused())
                        + " of reused permits, " + number(figures.repeated()) + " repeated");
        table.add("Refusals", number(figures.count(Event.Kind.REFUSED)));
        table.add("Acquires that threw", figures.failures().isEmpty() ? "0" : figures.failures());
        table.add("Outcomes unknown to the caller", number(figures.count(Event.Kind.UNKNOWN)));
        figures.faults().forEach((fault, count) -> table.add("Fault: " + fault.replace('-', ' '), number(count)));
        table.add("Fault: client killed", number(figures.count(Event.Kind.KILLED)));
        table.add(
                "Writes under `requireHeld`",
                number(figures.written()) + ", refused " + number(figures.refusedWrites()));
        for (Findings.Kind kind : Findings.Kind.values()) {
            boolean looked = kind != Findings.Kind.LOGGED_OVER_GRANT || commits > 0;
            table.add("**" + kind.label() + "**", looked ? "**" + number(findings.count(kind)) + "**" : "no log");
        }
        table.add(
                "Releases reported as successful after the permit had expired and gone to someone else",
                number(figures.overstatedReleases()));
        table.add("Commits replayed from the server's log", commits == 0 ? "no log" : number(commits));
        table.add(
                "Permits of killed clients granted to their successors",
                number(figures.recovered())
                        + "; of " + number(figures.undisturbed()) + " without another fault meanwhile, the last after "
                        + seconds(figures.longestRecovery()));
        table.add(
                "Waits of callers with a share",
                number(figures.sharedWaits()) + ", during which another key or tenant was granted at most "
                        + number(figures.mostOvertaken()) + " permits more than the caller's own");
        table.add("All permits available after the run", seconds(free));
        table.add("Longest time without any grant", seconds(figures.longestOutage()));
        figures.afterReady()
                .forEach((what, times) ->
                        table.add("From a restarted server's first answer to the first " + what, distribution(times)));
        figures.growth().forEach((client, usage) -> table.add("Used by client " + client, usage));
        List<String> lines = new ArrayList<>(table.lines());
        lines.add("");
        lines.add(verdict());
        for (Findings.Kind kind : Findings.Kind.values()) {
            findings.descriptions(kind).forEach(each -> lines.add("* " + kind.label() + ": " + each));
        }
        return lines;
    }

    private String verdict() {
        if (isPassed()) {
            return "Passed.";
        }
        return findings.isEmpty()
                ? "FAILED: the run was not complete. Repeat it with " + options
                : "FAILED. Repeat it with " + options;
    }

    private static String number(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    private static String distribution(List<Duration> times) {
        List<Duration> sorted = times.stream().sorted().toList();
        return "median %s, longest %s; of %d, %d within 1 s and %d within 5 s"
                .formatted(
                        seconds(sorted.get(sorted.size() / 2)),
                        seconds(sorted.get(sorted.size() - 1)),
                        times.size(),
                        within(1, times),
                        within(5, times));
    }

    private static long within(int seconds, List<Duration> times) {
        return times.stream().filter(time -> time.toSeconds() < seconds).count();
    }

    private static String seconds(Duration duration) {
        return String.format(Locale.ROOT, "%.1f s", duration.toMillis() / 1000.0);
    }
}
