package io.dbsemaphore.tools.faults.witness;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.tools.faults.oracle.Findings;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HeldPermitsTests {

    private final Findings findings = new Findings();
    private final HeldPermits held = new HeldPermits(Map.of("pair", 2), findings);

    @BeforeEach
    void create() {
        held.semaphore(1, "pair", 3);
    }

    @Test
    void findACommitThatExceedsTheCapacity() {
        held.added(1, 1, "ACQUIRED");
        held.added(1, 1, "ACQUIRED");
        held.committed("a:1");
        assertThat(findings.isEmpty()).isTrue();
        held.added(1, 1, "ACQUIRED");
        held.committed("a:2");
        assertThat(findings.descriptions(Findings.Kind.LOGGED_OVER_GRANT))
                .containsExactly("pair: 3 of 2 held after the commit at a:2");
    }

    @Test
    void compareAfterTheCommitOnly() {
        held.added(1, 2, "ACQUIRED");
        held.committed("a:1");
        held.added(1, 1, "ACQUIRED");
        held.removed(1, 2, "ACQUIRED");
        held.added(1, 2, "RELEASED");
        held.committed("a:2");
        assertThat(findings.isEmpty()).isTrue();
        assertThat(held.commits()).isEqualTo(2);
    }

    @Test
    void doNotCountWhatIsReleased() {
        held.added(1, 5, "RELEASED");
        held.committed("a:1");
        assertThat(findings.isEmpty()).isTrue();
        assertThat(held.commits()).isZero();
    }
}
