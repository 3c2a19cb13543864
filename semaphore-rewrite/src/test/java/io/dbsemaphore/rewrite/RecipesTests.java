package io.dbsemaphore.rewrite;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.openrewrite.Recipe;
import org.openrewrite.config.Environment;
import org.openrewrite.config.RecipeDescriptor;

/** The recipes that users activate. */
class RecipesTests {

    private static final Pattern DOCUMENTED = Pattern.compile("^\\| `(\\w+)` \\|", Pattern.MULTILINE);

    static final Environment ENVIRONMENT =
            Environment.builder().scanRuntimeClasspath("io.dbsemaphore.rewrite").build();

    @Test
    void areDocumented() throws IOException {
        List<String> documented = DOCUMENTED
                .matcher(Files.readString(Path.of("../docs/migrate.md")))
                .results()
                .map(row -> "io.dbsemaphore.rewrite." + row.group(1))
                .toList();

        assertThat(documented).containsExactlyInAnyOrderElementsOf(declared());
    }

    @Test
    void areValid() {
        for (String name : declared()) {
            Recipe recipe = ENVIRONMENT.activateRecipes(name);

            assertThat(recipe.validateAll().stream().flatMap(validated -> validated.failures().stream()))
                    .as(name)
                    .isEmpty();
        }
    }

    @Test
    void addTheDependencyInTheVersionOfThisBuild() {
        assertThat(declared())
                .allSatisfy(name -> assertThat(ENVIRONMENT
                                .activateRecipes(name)
                                .getRecipeList()
                                .get(0)
                                .toString())
                        .contains("version=" + System.getProperty("project.version")));
    }

    private List<String> declared() {
        return ENVIRONMENT.listRecipeDescriptors().stream()
                .map(RecipeDescriptor::getName)
                .filter(name -> name.matches("io\\.dbsemaphore\\.rewrite\\.(From|Adapt)\\w+"))
                .toList();
    }
}
