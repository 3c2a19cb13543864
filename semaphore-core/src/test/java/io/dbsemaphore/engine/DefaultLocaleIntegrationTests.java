package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** JVMs whose default locale has other digits, or another lower case, than English. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DefaultLocaleIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final SemaphoreSettings REUSE = TestSettings.defaults()
            .with(SemaphoreSettings.REUSE, PerSemaphore.all(Duration.ZERO).with("reused*", Duration.ofMillis(500)));

    private static Schema schema;

    private final Locale before = Locale.getDefault();

    @BeforeAll
    static void migrate() {
        schema = TestDatabase.create().migrate();
    }

    @AfterAll
    static void drop() {
        schema.close();
    }

    @AfterEach
    void restore() {
        Locale.setDefault(before);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ar-EG", "fa-IR", "bn-BD", "tr-TR"})
    void anInstanceStartsAndGrants(String locale) {
        Locale.setDefault(Locale.forLanguageTag(locale));
        try (Node node = Node.on(schema)) {
            String name = node.semaphore(1);
            PermitGrant grant =
                    node.semaphores().acquire(AcquireRequest.of(name).withKeepAlive(true));

            assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();
            grant.release();
            new SemaphoreRows(schema).assertNothingHeld(Set.of(name));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ar-EG", "tr-TR"})
    void anInstanceTellsTheOthersThatItsCallerWasRefused(String locale) {
        Locale.setDefault(Locale.forLanguageTag(locale));
        String name = SemaphoreRows.name("reused");
        try (Node node = Node.on(schema, REUSE);
                Node other = Node.on(schema, REUSE)) {
            node.admin().create(name, 1);
            PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name));

            assertThat(other.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();

            Awaitility.await().atMost(SOON).until(() -> !marks(name).isEmpty());
            grant.release();
        }
    }

    private static List<Long> marks(String name) {
        return schema.jdbc()
                .queryForList(
                        "select w.instance from semaphore_waiter w join semaphore s on s.id = w.semaphore_id"
                                + " where s.name = ? and w.instance < 0",
                        Long.class,
                        name);
    }
}
