package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.testing.node.Node;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which texts are names, owners, labels and external ids, and which are refused. */
class BadKeyIntegrationTests extends BadInputFixture {

    @ParameterizedTest
    @MethodSource
    void isRefusedBeforeTheDatabaseIsTouched(BadKey key) {
        String text = key.text();
        assertRefused("semaphore name", key, node -> node.semaphores().acquire(AcquireRequest.of(KNOWN, text)));
        assertRefused("semaphore name", key, node -> node.semaphores().acquire(known().withPermits(text, 1)));
        assertRefused("semaphore name", key, node -> node.admin().create(text, 1));
        assertRefused("owner", key, node -> node.semaphores().acquire(known().withOwner(text)));
        assertRefused("label", key, node -> node.semaphores().acquire(known().withLabel(text)));
        assertRefused("external id", key, node -> node.semaphores().acquire(known().withExternalId(text)));
        assertRefused("external id", key, node -> node.semaphores().release(text));
        assertRefused("external id", key, node -> node.semaphores().find(text));
    }

    static Stream<BadKey> isRefusedBeforeTheDatabaseIsTouched() {
        return Stream.of(
                key("empty", "", "blank"),
                key("blank", " \t ", "blank"),
                key("191 characters", "n".repeat(191), "191", "190", "n".repeat(40)),
                key("a line feed", "line\nfeed", "control characters", "line?feed"),
                key("NUL", "nul\0", "control characters", "nul?"),
                key("a C1 control", "next\u0085line", "control characters"),
                key("leading space", " front", "space", "' front'"),
                key("trailing space", "back ", "space", "'back '"),
                key("trailing no-break space", "back\u00a0", "space"),
                key("half a surrogate pair", "half\ud83d", "surrogate"),
                key("the other half first", "\ude00\ud83d", "surrogate"));
    }

    private static BadKey key(String description, String text, String... parts) {
        return new BadKey(description, text, parts);
    }

    private void assertRefused(String what, BadKey key, Consumer<Node> call) {
        String[] messageParts =
                Stream.concat(Stream.of(what), Stream.of(key.parts())).toArray(String[]::new);
        assertRefusedBeforeTheDatabaseIsTouched(bad(key + " as " + what, call, messageParts));
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "tenant:42/ü 漢字 😀", "a  b", "Ω\u200dω"})
    void anyOtherTextIsAKey(String key) {
        assertAccepted(key);
    }

    @Test
    void aHundredAndNinetyCharactersAreAKey() {
        assertAccepted("k".repeat(190));
        assertAccepted("😀".repeat(95));
    }

    private void assertAccepted(String key) {
        assertThat(node.admin().create(key, 1)).isEqualTo(true);
        assertThat(node.semaphores()
                        .acquire(AcquireRequest.of(key)
                                .withExternalId(key)
                                .withOwner(key)
                                .withLabel(key))
                        .permits())
                .containsOnlyKeys(key);
        assertThat(node.admin().holders(key)).singleElement().satisfies(holder -> {
            assertThat(holder.externalId()).isEqualTo(key);
            assertThat(holder.owner()).isEqualTo(key);
            assertThat(holder.label()).contains(key);
        });
        assertThat(cluster.held(key)).isEqualTo(1);
    }

    /** A text that is no name, no owner, no label and no external id. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record BadKey(String description, String text, String... parts) {

        @Override
        public String toString() {
            return description;
        }
    }
}
