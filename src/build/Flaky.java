// Reads the reports of all runs below target directories, and prints the tests that passed only when they ran again, each with the message of
// its first failure. Fails if there are more than five: then it is not a matter of chance.

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

class Flaky {

    private static final int MOST = 5;

    public static void main(String[] arguments) throws Exception {
        Set<String> flaky = new TreeSet<>();
        for (Path report : reports()) {
            NodeList cases = DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(report.toFile())
                    .getElementsByTagName("testcase");
            for (int i = 0; i < cases.getLength(); i++) {
                Element test = (Element) cases.item(i);
                for (String kind : List.of("flakyFailure", "flakyError")) {
                    if (test.getElementsByTagName(kind).item(0) instanceof Element first) {
                        String message = first.getAttribute("message").strip().replaceAll("\\s+", " ");
                        flaky.add("FLAKY %s#%s (%s) %s: %s"
                                .formatted(
                                        test.getAttribute("classname"),
                                        test.getAttribute("name"),
                                        report.getParent().getFileName(),
                                        first.getAttribute("type"),
                                        message.substring(0, Math.min(300, message.length()))));
                    }
                }
            }
        }
        flaky.forEach(System.out::println);
        if (flaky.size() > MOST) {
            System.err.printf("%d tests passed only when they ran again, more than %d%n", flaky.size(), MOST);
            System.exit(1);
        }
    }

    private static List<Path> reports() throws Exception {
        try (Stream<Path> files = Files.walk(Path.of("."))) {
            return files.filter(file -> file.toString().contains("/target/"))
                    .filter(file -> file.getFileName().toString().matches("TEST-.*\\.xml"))
                    .toList();
        }
    }
}
