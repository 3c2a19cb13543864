package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSetMetaData;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What docs/operations.md and docs/databases.md ask can be asked, and has the columns that are shown there. */
@EnabledOnDatabase(DatabaseKind.MYSQL)
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DocumentedQueriesIntegrationTests {

    private static final Pattern BLOCK =
            Pattern.compile("```sql\\n(.*?);\\n```\\n(?:\\n\\| ([^\\n]*) \\|\\n)?", Pattern.DOTALL);

    private static Schema schema;
    private static Node node;

    @BeforeAll
    static void holdSomething() {
        schema = TestDatabase.create().migrate();
        node = Node.on(
                schema, TestSettings.instanceTimeout(TestSettings.defaults().get(SemaphoreSettings.INSTANCE_TIMEOUT)));
        node.admin().create("backup", 3);
        node.admin().setCapacity("backup", 4, "ada", "noon");
        node.semaphores()
                .acquire(AcquireRequest.of("backup")
                        .withTtl(Duration.ofMinutes(30))
                        .withKeepAlive(true));
        node.semaphores().acquire(AcquireRequest.of("backup").withTtl(Duration.ofSeconds(1)));
        node.maintenance().deleteCapacityHistory();
    }

    @AfterAll
    static void drop() {
        node.close();
        schema.close();
    }

    /** @param columns as they are shown below it; null where no result is shown */
    record Documented(String query, @Nullable String columns) {

        @Override
        public String toString() {
            return query.replaceAll("\\s+", " ");
        }
    }

    static Stream<Documented> queries() throws IOException {
        return documented().stream().filter(each -> each.query().startsWith("select"));
    }

    @ParameterizedTest
    @MethodSource("queries")
    void answersWithTheColumnsThatAreShown(Documented documented) {
        List<String> columns = new ArrayList<>();
        Integer rows = schema.jdbc().query(documented.query(), result -> {
            ResultSetMetaData metaData = result.getMetaData();
            for (int column = 1; column <= metaData.getColumnCount(); column++) {
                columns.add(metaData.getColumnLabel(column));
            }
            int count = 0;
            while (result.next()) {
                count++;
            }
            return count;
        });

        if (documented.columns() != null) {
            assertThat(columns).isEqualTo(Arrays.asList(documented.columns().split(" \\| ")));
        }
        assertThat(rows).isPositive();
    }

    @Test
    void changesACapacityFromTheNextAcquireOn() throws IOException {
        String update = documented().stream()
                .map(Documented::query)
                .filter(query -> query.startsWith("update"))
                .reduce((one, other) -> {
                    throw new AssertionError("more than one update");
                })
                .orElseThrow();
        node.admin().setCapacity("backup", 1, "ada", "before");
        assertThat(node.semaphores().tryAcquire(AcquireRequest.of("backup"))).isEmpty();

        assertThat(schema.jdbc().update(update)).isEqualTo(1);

        assertThat(node.admin().find("backup").orElseThrow().capacity()).isEqualTo(5);
        assertThat(node.semaphores().tryAcquire(AcquireRequest.of("backup"))).isPresent();
    }

    private static List<Documented> documented() throws IOException {
        Path docs = Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolveSibling("docs");
        List<Documented> documented = new ArrayList<>();
        for (String document : List.of("operations.md", "databases.md")) {
            Matcher blocks = BLOCK.matcher(Files.readString(docs.resolve(document)));
            while (blocks.find()) {
                documented.add(new Documented(blocks.group(1), blocks.group(2)));
            }
        }
        assertThat(documented).hasSizeGreaterThan(8);
        return documented;
    }
}
