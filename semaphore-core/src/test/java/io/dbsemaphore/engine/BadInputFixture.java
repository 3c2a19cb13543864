package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A semaphore of three permits, of which one is held, and calls that are refused and change nothing. */
abstract class BadInputFixture {

    static final String KNOWN = "known";
    static final String HELD = "held-id";
    static final String RELEASED = "released-id";

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    final Node node = cluster.node(0);

    @BeforeAll
    static void prepare() {
        Node node = cluster.node(0);
        node.admin().create(KNOWN, 3);
        node.semaphores().acquire(known().withExternalId(HELD));
        node.semaphores().acquire(known().withExternalId(RELEASED)).release();
    }

    static AcquireRequest known() {
        return AcquireRequest.of(KNOWN);
    }

    static BadCall bad(String description, Consumer<Node> call, String... messageParts) {
        return new BadCall(IllegalArgumentException.class, description, call, messageParts);
    }

    final void assertRefusedBeforeTheDatabaseIsTouched(BadCall bad) {
        assertRefused(bad);

        assertThat(node.gate().statements())
                .allMatch(statement -> statement.startsWith("set ")); // an earlier session is given back
    }

    final void assertRefused(BadCall bad) {
        Map<String, List<Map<String, Object>>> before = cluster.rows();
        node.gate().clear();

        assertThatThrownBy(() -> bad.call().accept(node))
                .as(bad.description())
                .isInstanceOf(bad.type())
                .hasMessageContainingAll(bad.messageParts());

        assertThat(cluster.rows()).isEqualTo(before);
    }

    /** A call, what it throws, and what the message says. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record BadCall(Class<? extends Exception> type, String description, Consumer<Node> call, String... messageParts) {

        @Override
        public String toString() {
            return description;
        }
    }
}
