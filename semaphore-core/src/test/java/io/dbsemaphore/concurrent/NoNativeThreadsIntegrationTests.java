package io.dbsemaphore.concurrent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dbsemaphore.testing.ChildJvm;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.ThreadLimit;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.time.Instant;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A process whose system has no native thread for it for a while: what needs none is done, what needs one is done as soon as
 * there is one, and nothing stays held.
 */
@Slow
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NoNativeThreadsIntegrationTests {

    private static final Duration LONG = Duration.ofSeconds(60);

    @BeforeAll
    static void requireLimits() {
        assumeTrue(ThreadLimit.isAvailable(), "The threads of a process can be limited");
    }

    @Test
    void callersDoTheWorkWhileThereAreNone() {
        try (TestDatabase.Schema schema = TestDatabase.createForProcesses().migrate();
                Node node = new Node(schema.newPool(5))) {
            node.admin().create("s", 3);
            node.admin().create("kept", 1);
            node.admin().create("one", 1);
            try (ChildJvm child = ThreadLimit.start(ThreadlessProcess.class, schema.handOver())) {
                child.awaitLine("READY", LONG);
                ThreadLimit.takeThreads(child);

                child.send("work");
                String worked = child.awaitLine("WORKED", LONG);
                child.send("keep");
                child.awaitLine("KEPT", LONG);
                ThreadLimit.giveThreads(child);

                assertThat(worked).isEqualTo("WORKED " + ThreadlessProcess.CALLERS * ThreadlessProcess.ROUNDS + " 0");
                assertWaitsAreServed(child);
                assertIsKeptAlive(child);
                child.send("end");
                child.awaitLine("ENDED", LONG);
                assertThat(held(schema)).isZero();
            }
        }
    }

    private static void assertWaitsAreServed(ChildJvm child) {
        child.send("wait");
        assertThat(child.awaitLine("WAITED", LONG)).isEqualTo("WAITED true");
    }

    private static void assertIsKeptAlive(ChildJvm child) {
        Instant later = Instant.now().plus(ThreadlessProcess.TTL.multipliedBy(2));
        Awaitility.await().atMost(LONG).until(() -> Instant.now().isAfter(later));
        child.send("held");
        assertThat(child.awaitLine("HELD", LONG)).isEqualTo("HELD true");
    }

    private static int held(TestDatabase.Schema schema) {
        return schema.jdbc()
                .queryForList("select id from permit_request where state = 'ACQUIRED'")
                .size();
    }
}
