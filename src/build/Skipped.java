// Reads the reports of all runs below target directories, and fails if a test was skipped in each of them, or if a class of
// tests has no report at all. A test that runs on one database only is thus fine if there was a run on that database.

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

class Skipped {

    private static final Pattern TEST =
            Pattern.compile("^\\s*@(Test|ParameterizedTest|RepeatedTest|TestFactory)\\b", Pattern.MULTILINE);
    /** What needs a newer JDK than 17, on which CI runs, or a run of the starter's tests on PostgreSQL. */
    private static final Set<String> NEED_MORE = Set.of(
            "io.dbsemaphore.boot.autoconfigure.HostMatrixTests#virtualThreads",
            "io.dbsemaphore.boot.autoconfigure.InitializeSchemaIntegrationTests#createsTheTablesInTheSchemaOfTheConnection",
            "io.dbsemaphore.boot.autoconfigure.InitializeSchemaIntegrationTests#saysWhatIsMissingToARoleThatMayNotCreateTables",
            "io.dbsemaphore.engine.batch.CrowdIntegrationTests#ofTenThousandVirtualThreadsGoesThroughASemaphoreOfTen",
            "io.dbsemaphore.engine.batch.HundredThousandWaitersIntegrationTests#onVirtualThreadsLeaveOnTime",
            "io.dbsemaphore.samples.recipes.async.AsyncRecipeIntegrationTests#virtualThreadsWaitForPermits");

    private static final Set<String> RAN = new TreeSet<>();
    private static final Set<String> SKIPPED = new TreeSet<>();
    private static final Set<String> CLASSES = new TreeSet<>();

    public static void main(String[] arguments) throws Exception {
        for (Path report : files("target", "TEST-", ".xml")) {
            NodeList cases = DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(report.toFile())
                    .getElementsByTagName("testcase");
            for (int i = 0; i < cases.getLength(); i++) {
                Element test = (Element) cases.item(i);
                String type = test.getAttribute("classname");
                String name = test.getAttribute("name").replaceFirst("[({\\[].*", "");
                boolean skipped = test.getElementsByTagName("skipped").getLength() > 0;
                (skipped ? SKIPPED : RAN).add(name.isEmpty() ? type : type + "#" + name);
                if (!skipped) {
                    CLASSES.add(type.replaceFirst("[$].*", "")); // of a nested class
                }
            }
        }
        Set<String> missing = new TreeSet<>();
        for (String test : SKIPPED) { // a class that was skipped as a whole has no name of a test
            if (!RAN.contains(test) && (test.contains("#") || !CLASSES.contains(test))) {
                missing.add(test);
            }
        }
        for (String test : Set.copyOf(missing)) {
            if (NEED_MORE.contains(test)) {
                missing.remove(test);
                System.out.println("Not run here, needs Java 21 or PostgreSQL for the starter: " + test);
            }
        }
        for (Path source : files("src/test/java", "", "Tests.java")) {
            String code = Files.readString(source);
            String type = source.toString().replaceFirst(".*src/test/java/", "").replace(".java", "").replace('/', '.');
            if (TEST.matcher(code).find() && !code.contains("\nabstract class ") && !CLASSES.contains(type)) {
                missing.add(type);
            }
        }
        System.out.printf("%,d tests ran, %,d of these were skipped in another run%n", RAN.size(),
                SKIPPED.stream().filter(RAN::contains).count());
        missing.forEach(test -> System.err.println("Ran nowhere: " + test));
        System.exit(missing.isEmpty() ? 0 : 1);
    }

    private static List<Path> files(String directory, String prefix, String suffix) throws IOException {
        try (Stream<Path> files = Files.walk(Path.of("."))) {
            return files.filter(file -> file.toString().contains("/" + directory + "/"))
                    .filter(file -> !file.toString().contains("/src/release/"))
                    .filter(file -> !file.toString().contains("/src/test/projects/"))
                    .filter(file -> !file.toString().contains("/target/") || directory.equals("target"))
                    .filter(file -> file.getFileName().toString().startsWith(prefix))
                    .filter(file -> file.getFileName().toString().endsWith(suffix))
                    .toList();
        }
    }
}
