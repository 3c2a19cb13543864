package io.dbsemaphore.rewrite;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.openrewrite.ExecutionContext;
import org.openrewrite.SourceFile;
import org.openrewrite.internal.ListUtils;
import org.openrewrite.java.tree.JavaType;
import org.openrewrite.properties.AddProperty;
import org.openrewrite.properties.tree.Properties;
import org.openrewrite.yaml.MergeYaml;
import org.openrewrite.yaml.YamlParser;
import org.openrewrite.yaml.tree.Yaml;

/**
 * The settings that the migrated code of an application needs. They are added to its {@code application.yaml} ({@code .yml},
 * {@code .properties}) or to a new one, and to that of its tests, which hides it. An existing setting is kept. If there are several
 * applications, nothing is added: the recipes then say in the code what is missing.
 */
class ApplicationSettings {

    private static final Pattern FILE =
            Pattern.compile("(?:.*/)?src/(main|test)/resources/application\\.(?:ya?ml|properties)");
    private static final Pattern SOURCE = Pattern.compile("((?:.*/)?src/main/)java/.*");
    private static final Pattern EXPRESSION = Pattern.compile("#\\{[^}]*}");
    /** No star at the beginning, no placeholder, and nothing that needs quotes. */
    private static final Pattern NAME = Pattern.compile("[^*$\"\\\\\\[\\]][^$\"\\\\\\[\\]]*");

    private final Map<String, Set<String>> capacities = new TreeMap<>();
    private final Map<String, String> properties = new TreeMap<>();
    private final Set<String> mainFiles = new TreeSet<>();
    private final Set<String> sources = new TreeSet<>();

    /** Records where settings are, or could be. */
    void see(SourceFile file) {
        Matcher configuration = FILE.matcher(path(file));
        if (configuration.matches() && "main".equals(configuration.group(1))) {
            mainFiles.add(path(file));
        }
        Matcher source = SOURCE.matcher(path(file));
        if (source.matches()) {
            sources.add(source.group(1));
        }
    }

    /** Records the types that a file in a language other than Java uses. */
    void useElsewhere(Set<JavaType> types) {}

    /** Called when all files have been read. */
    void complete() {}

    void set(String property, String value) {
        properties.put(property, value);
    }

    /** Sets the capacity of a semaphore, or of a pattern, if the name has expressions. */
    void capacity(String name, String capacity) {
        capacities.computeIfAbsent(glob(name), first -> new TreeSet<>()).add(capacity);
    }

    /** {@return the property that has to be set by hand; null if it is set} */
    @Nullable String missingCapacity(String name) {
        String glob = glob(name);
        if (areAdded() && isConfigured(glob)) {
            return null;
        }
        Setting setting = capacitySetting(glob, String.join(" or ", capacities.getOrDefault(glob, Set.of())));
        return setting.key() + (setting.value().isEmpty() ? "" : "=" + setting.value());
    }

    private boolean isConfigured(String glob) {
        return capacities.getOrDefault(glob, Set.of()).size() == 1
                && NAME.matcher(glob).matches();
    }

    boolean areAdded() {
        return mainFiles.isEmpty() ? sources.size() == 1 : mainFiles.size() == 1;
    }

    Collection<SourceFile> newFile(ExecutionContext ctx) {
        List<Setting> settings = settings();
        if (!areAdded() || !mainFiles.isEmpty() || settings.isEmpty()) {
            return List.of();
        }
        Path path = Path.of(sources.iterator().next(), "resources/application.yaml");
        return YamlParser.builder()
                .build()
                .parse(ctx, settings.get(0).yaml())
                .map(file -> applyTo(file.withSourcePath(path), ctx))
                .toList();
    }

    SourceFile applyTo(SourceFile file, ExecutionContext ctx) {
        if (!FILE.matcher(path(file)).matches() || !areAdded()) {
            return file;
        }
        SourceFile changed = file;
        for (Setting setting : settings()) {
            if (changed instanceof Yaml.Documents documents) {
                changed = inFirstDocument(documents, setting, ctx);
            } else if (changed instanceof Properties.File) {
                changed = (SourceFile) new AddProperty(setting.key(), setting.value(), null, null, false, null, null)
                        .getVisitor()
                        .visitNonNull(changed, ctx);
            }
        }
        return changed;
    }

    /** The other documents are those of profiles. */
    private static Yaml.Documents inFirstDocument(Yaml.Documents file, Setting setting, ExecutionContext ctx) {
        List<Yaml.Document> documents = file.getDocuments();
        Yaml.Documents merged = (Yaml.Documents) new MergeYaml("$", setting.yaml(), true, null, null, null, null, null)
                .getVisitor()
                .visitNonNull(file.withDocuments(documents.subList(0, 1)), ctx);
        return file.withDocuments(Objects.requireNonNull(
                ListUtils.mapFirst(documents, first -> merged.getDocuments().get(0))));
    }

    private List<Setting> settings() {
        List<Setting> settings = new ArrayList<>();
        properties.forEach((property, value) -> settings.add(Setting.of(property, value)));
        capacities.forEach((name, given) -> {
            if (isConfigured(name)) {
                settings.add(capacitySetting(name, given.iterator().next()));
            }
        });
        return settings;
    }

    private static Setting capacitySetting(String name, String capacity) {
        return new Setting(
                List.of("semaphore", name.contains("*") ? "patterns" : "semaphores", name, "capacity"), capacity);
    }

    private static String glob(String name) {
        return EXPRESSION.matcher(name).replaceAll("*");
    }

    private static String path(SourceFile file) {
        return file.getSourcePath().toString().replace('\\', '/');
    }
}
