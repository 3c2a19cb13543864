package io.dbsemaphore.boot.publishing;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.Documents;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The workflows execute no code that can change behind a name, may write nothing by default, and release what was tried. */
class WorkflowsTests {

    private static final Path WORKFLOWS = Documents.ROOT.resolve(".github/workflows");
    private static final Pattern USES = Pattern.compile("(?m)^ *(?:- )?uses: (.*)$");
    private static final Pattern PINNED = Pattern.compile("([\\w./-]+)@([0-9a-f]{40}) # v\\d+\\.\\d+\\.\\d+");
    private static final Pattern SCRIPT = Pattern.compile("\\bsrc/(?:build|release)/[\\w.-]+");

    @ParameterizedTest
    @MethodSource("workflows")
    void useActionsByTheirDigest(Path workflow) throws IOException {
        assertThat(uses(workflow)).isNotEmpty().allMatch(PINNED.asMatchPredicate());
    }

    @Test
    void useOneVersionOfEachAction() throws IOException {
        Map<String, TreeSet<String>> versions = new TreeMap<>();
        for (Path workflow : workflows().toList()) {
            for (String action : uses(workflow)) {
                String[] parts = action.split("@");
                versions.computeIfAbsent(
                                parts[0].replaceAll("^([\\w-]+/[\\w-]+)/.*", "$1"), repository -> new TreeSet<>())
                        .add(parts[1]);
            }
        }

        assertThat(versions)
                .hasSizeGreaterThan(4)
                .allSatisfy((repository, used) -> assertThat(used).hasSize(1));
    }

    @ParameterizedTest
    @MethodSource("workflows")
    void mayOnlyReadUnlessAJobSaysMore(Path workflow) throws IOException {
        assertThat(Files.readString(workflow)).containsPattern("(?m)^permissions:\n  contents: read\n\n");
    }

    @ParameterizedTest
    @MethodSource("workflows")
    void callScriptsThatExist(Path workflow) throws IOException {
        assertThat(SCRIPT.matcher(Files.readString(workflow)).results().map(MatchResult::group))
                .allMatch(script -> Files.isExecutable(Documents.ROOT.resolve(script)));
    }

    @Test
    void releaseByTheScriptsThatATryHasRun() {
        String tried = Documents.read("src/release/try");
        String release = Documents.read(".github/workflows/release.yml");

        assertThat(release)
                .containsSubsequence(
                        "run: src/release/try --twice --sign\n",
                        "src/release/build \"$VERSION\" target/release ",
                        "run: src/release/check \"$VERSION\" target/release\n",
                        "path: |\n            target/release\n");
        assertThat(tried)
                .contains("src/release/build\" $version ", "src/release/check $version ")
                .doesNotContain("mvn deploy");
        assertThat(Documents.read("src/release/build")).contains("deploy -Prelease");
    }

    @Test
    void acceptCommitsThatTheirAuthorsHaveSignedOff(@TempDir Path repository) throws Exception {
        git(repository, "init", "--quiet");
        commit(repository, "before");
        commit(repository, "signed", "--signoff");
        commit(repository, "of a bot", "--author=update[bot] <update@example.org>");

        assertThat(signedOff(repository, "HEAD~2..HEAD")).isEmpty();

        commit(repository, "forgotten");
        commit(repository, "signed by another\n\nSigned-off-by: Someone Else <else@example.org>");

        assertThat(signedOff(repository, "HEAD~4..HEAD"))
                .hasSize(3)
                .anyMatch(line -> line.contains("forgotten: lacks the line Signed-off-by: Author <author@example.org>"))
                .anyMatch(line -> line.contains("signed by another: lacks the line"));
    }

    /** The lines that the script prints; none if it succeeds. */
    private static List<String> signedOff(Path repository, String range) throws Exception {
        return run(repository, Documents.ROOT.resolve("src/build/signed-off.sh").toString(), range);
    }

    private static void commit(Path repository, String message, String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                "-c", "user.name=Author", "-c", "user.email=author@example.org", "commit", "--quiet", "--allow-empty"));
        command.addAll(Arrays.asList(options));
        command.addAll(List.of("-m", message));
        git(repository, command.toArray(String[]::new));
    }

    private static void git(Path repository, String... arguments) throws Exception {
        assertThat(run(
                        repository,
                        Stream.concat(Stream.of("git"), Arrays.stream(arguments))
                                .toArray(String[]::new)))
                .isEmpty();
    }

    private static List<String> run(Path directory, String... command) throws Exception {
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        List<String> lines =
                new String(process.getInputStream().readAllBytes()).lines().toList();
        assertThat(process.waitFor() == 0).as("success, with %s", lines).isEqualTo(lines.isEmpty());
        return lines;
    }

    private static Stream<Path> workflows() throws IOException {
        try (Stream<Path> files = Files.list(WORKFLOWS)) {
            return files.sorted().toList().stream();
        }
    }

    private static List<String> uses(Path workflow) throws IOException {
        return USES.matcher(Files.readString(workflow))
                .results()
                .map(use -> use.group(1))
                .toList();
    }
}
