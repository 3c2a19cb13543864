package io.dbsemaphore.boot.publishing;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * A POM as it is published. It has what Maven Central requires, and everything that an application needs: no parent, no
 * repository, no property, and a version for each dependency.
 */
final class PublishedPom {

    /** Means the same wherever the POM is read. */
    private static final String OWN_VERSION = "${project.version}";

    /** Elements that Maven Central requires, by path. */
    private static final List<String> REQUIRED = List.of(
            "modelVersion",
            "groupId",
            "artifactId",
            "version",
            "name",
            "description",
            "url",
            "licenses/license/name",
            "licenses/license/url",
            "developers/developer/name",
            "scm/url",
            "scm/connection");

    /** Elements that would make an application depend on something beside the POM, or that say nothing to it. */
    private static final Map<String, String> FORBIDDEN = Map.of(
            "parent", "is not published",
            "repositories", "are the application's choice",
            "pluginRepositories", "are the application's choice",
            "profiles", "would make dependencies vary",
            "properties", "must have been replaced by their values",
            "distributionManagement", "is for who builds it",
            "build", "is for who builds it");

    private final Element project;

    private PublishedPom(Element project) {
        this.project = project;
    }

    static PublishedPom read(Path file) throws IOException {
        try {
            return new PublishedPom(DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(file.toFile())
                    .getDocumentElement());
        } catch (SAXException | ParserConfigurationException failure) {
            throw new IOException(file + " is not XML: " + failure.getMessage(), failure);
        }
    }

    /** The text of an element, empty if there is none. */
    String text(String path) {
        return find(project, path)
                .map(Node::getTextContent)
                .findFirst()
                .orElse("")
                .strip();
    }

    /** What is wrong, one sentence each. */
    List<String> problems() {
        List<String> problems = new ArrayList<>();
        REQUIRED.stream()
                .filter(path -> text(path).isEmpty())
                .map(path -> path + " is missing")
                .forEach(problems::add);
        FORBIDDEN.forEach((name, reason) -> {
            if (find(project, name).findAny().isPresent()) {
                problems.add(name + " " + reason);
            }
        });
        if (project.getTextContent().replace(OWN_VERSION, "").contains("${")) {
            problems.add("a property has not been replaced by its value");
        }
        Stream.of("url", "scm/url")
                .filter(path -> !text(path).startsWith("https://"))
                .map(path -> path + " is no address: " + text(path))
                .forEach(problems::add);
        find(project, "dependencies/dependency")
                .forEach(dependency -> problems.addAll(problems(new PublishedPom((Element) dependency))));
        find(project, "dependencyManagement/dependencies/dependency")
                .forEach(dependency -> problems.addAll(problems(new PublishedPom((Element) dependency))));
        return problems;
    }

    private List<String> problems(PublishedPom dependency) {
        List<String> problems = new ArrayList<>();
        String name = dependency.text("groupId") + ":" + dependency.text("artifactId");
        String version = dependency.text("version").replace(OWN_VERSION, text("version"));
        boolean own = dependency.text("groupId").equals(text("groupId"));
        if (version.isEmpty()) {
            problems.add(name + " has no version");
        } else if (own && !version.equals(text("version"))) {
            problems.add(name + " has another version: " + version);
        } else if (!own && version.endsWith("-SNAPSHOT")) {
            problems.add(name + " is a snapshot: " + version);
        }
        if (dependency.text("scope").equals("test")) {
            problems.add(name + " is for tests");
        }
        return problems;
    }

    private static Stream<Node> find(Node from, String path) {
        Stream<Node> found = Stream.of(from);
        for (String name : path.split("/")) {
            found = found.flatMap(node -> children(node, name));
        }
        return found;
    }

    private static Stream<Node> children(Node node, String name) {
        NodeList all = node.getChildNodes();
        return IntStream.range(0, all.getLength())
                .mapToObj(all::item)
                .filter(child -> child.getNodeName().equals(name));
    }
}
